// The clock, as a port so that tests can use a fake one.

/** Returns epoch milliseconds. */
export type Clock = () => number;
