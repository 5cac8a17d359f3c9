/** Finds every integer over 2^53, and at times other text, which only costs time. */
export declare const MAY_BE_LARGE: RegExp;
/** Throws SyntaxError for what is not JSON, or is nested too deeply. */
export declare function parseExactJson(text: string): unknown;
