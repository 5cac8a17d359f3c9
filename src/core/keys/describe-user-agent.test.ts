import { expect, test } from "bun:test";
import { describeUserAgent } from "./describe-user-agent.ts";

const CHROME =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36";

test.each([
  [CHROME, "Chrome, Windows"],
  [`${CHROME} Edg/141.0.0.0`, "Edge, Windows"],
  [`${CHROME} OPR/120.0`, "Opera, Windows"],
  ["Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox, Linux"],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1",
    "Safari, iPhone",
  ],
  [
    "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36",
    "Chrome, Android",
  ],
  [
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/18.5 Safari/605.1.15",
    "Safari, macOS",
  ],
])("%s is described in a few words", (header, description) => {
  expect(describeUserAgent(header)).toBe(description);
});

test("nothing of an unknown header is repeated", () => {
  for (const header of [null, "", "<script>alert(1)</script>", "curl/8.5.0", `${"x".repeat(9_000)} Firefox/1`])
    expect(describeUserAgent(header)).toBe("");
  expect(describeUserAgent("gth_secret Firefox/140.0 \u202eevil")).toBe("Firefox");
});
