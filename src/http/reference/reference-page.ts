// The page at /docs and the script that starts it. The script is a separate file, because the content security policy forbids
// inline scripts.
import { SCALAR_FILE } from "./scalar-package.ts";

export const START_FILE = "start.js";

export const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Gatehouse API reference</title>
<link rel="icon" href="data:,">
</head>
<body>
<div id="reference"></div>
<noscript>This page needs JavaScript. The same is in <a href="/openapi.json">openapi.json</a>.</noscript>
<script src="/docs/${SCALAR_FILE}"></script>
<script src="/docs/${START_FILE}"></script>
</body>
</html>
`;

/** Switches off everything that would call another host. Keys are kept in the page's memory only. */
export const START_SCRIPT = `Scalar.createApiReference("#reference", {
  url: "/openapi.json",
  baseServerURL: location.origin,
  pageTitle: "Gatehouse API reference",
  withDefaultFonts: false,
  telemetry: false,
  proxyUrl: "",
  agent: { disabled: true },
  mcp: { disabled: true },
  persistAuth: false,
  showDeveloperTools: "never",
  hideClientButton: true,
  documentDownloadType: "json",
  operationTitleSource: "summary",
  defaultOpenFirstTag: true,
});
`;
