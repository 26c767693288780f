/** In px, as a viewer sees them: after a camera's rotation, before pixel aspect. */
export interface Dimensions {
	width?: number;
	height?: number;
}

/** What a media file's own bytes say of it; what is absent could not be read. */
export interface MediaFacts extends Dimensions {
	/** A key of `formats`: jpeg, png, mp4 and quicktime are read, others only recognised. */
	format: string;
	mimeType: string;
	/** `other` also for an MP4 or QuickTime file that has tracks, but none of them video. */
	kind: 'image' | 'video' | 'other';
	/** Of the longest video track. */
	durationSeconds?: number;
}
