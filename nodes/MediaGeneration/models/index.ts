import { alpha3MotionControl } from './alpha3MotionControl';
import { beta2ImageEdit } from './beta2ImageEdit';
import { custom } from './any/custom';
import { delta11ReferenceToVideo, deltaReferenceToVideo } from './deltaReferenceToVideo';
import { gammaV6ReferenceToVideo } from './gammaV6ReferenceToVideo';

/**
 * Every model that the editor offers. Any Model is first and the default: a real service has other identifiers than those of the
 * rest, which are in the order of their names.
 */
export const models = [
	custom,
	alpha3MotionControl,
	beta2ImageEdit,
	delta11ReferenceToVideo,
	deltaReferenceToVideo,
	gammaV6ReferenceToVideo,
];
