import { referenceToVideoFields } from './deltaReferenceToVideo';
import { defineModel } from './model';

export const delta11ReferenceToVideo = defineModel({
	id: 'delta-1-1/reference-to-video',
	name: 'Delta 1.1 Reference to Video',
	description: 'Makes a video from reference images; the newer version, without a seed',
	fields: referenceToVideoFields,
});
