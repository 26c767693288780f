import { cleanUp } from './setup.cts';

export default cleanUp;
