/** A log whose lines begin with the seconds since it was made. */
function createLog() {
	const started = Date.now();
	return (/** @type {string} */ line) => {
		const seconds = Math.round((Date.now() - started) / 1000);
		console.log(`[${String(seconds).padStart(3)} s] ${line}`);
	};
}

module.exports = { createLog };
