import { alpha3MotionControl } from './alpha3MotionControl';
import { beta2ImageEdit } from './beta2ImageEdit';
import { custom } from './any/custom';
import { delta11ReferenceToVideo, deltaReferenceToVideo } from './deltaReferenceToVideo';
import { gammaV6ReferenceToVideo } from './gammaV6ReferenceToVideo';

/** Every model that the editor offers, in the order of their names. */
export const models = [
	alpha3MotionControl,
	custom,
	beta2ImageEdit,
	delta11ReferenceToVideo,
	deltaReferenceToVideo,
	gammaV6ReferenceToVideo,
];
