// Time, handed in: epoch milliseconds.

export type Clock = () => number;
