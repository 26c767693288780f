import fc from 'fast-check';

// A mutant is found by the first example that fails, and often by a few: neither a smaller one nor all are worth the time.
fc.configureGlobal({ endOnFailure: true, interruptAfterTimeLimit: 300 });
