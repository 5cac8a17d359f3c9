// The tables of docs/errors.md as they must be, from the table of errors and the words that go with it.

import { ERRORS } from "../../src/core/errors.ts";
import type { ErrorName } from "../../src/core/wire/error.ts";
import { ERROR_GUIDE, UPSTREAM_GUIDE } from "../../src/http/openapi/error-guide.ts";

export function listErrorRows(): string[] {
  return (Object.keys(ERRORS) as ErrorName[]).map((name) => {
    const { code, status, message } = ERRORS[name];
    const { when, advice } = ERROR_GUIDE[name];
    return `| ${code} | ${status} | ${message} | ${when} | ${advice} |`;
  });
}

export function listUpstreamRows(): string[] {
  return Object.entries(UPSTREAM_GUIDE).map(
    ([code, { when, advice }]) => `| ${code} | ${when} | ${advice} |`,
  );
}
