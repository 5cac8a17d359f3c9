// The operations about the service itself: health, metrics, and this document.
import Type from "typebox";
import { Liveness, Readiness } from "../../core/wire/health.ts";
import { METRICS } from "./examples.ts";
import type { Operations, Parameter } from "./operation.ts";
import { IF_NONE_MATCH } from "./parameters.ts";

const OpenApi = Type.Object(
  { openapi: Type.String({ pattern: "^3\\.1\\.\\d+$" }) },
  { additionalProperties: true, description: "An OpenAPI document" },
);

const FOR: Parameter = {
  name: "for",
  in: "query",
  description:
    "`callers` leaves out what an API key gives no access to, signing in from a browser, and version 1.",
  schema: Type.String(),
  example: "callers",
};

export const SERVICE_OPERATIONS: Operations = {
  "GET /healthz": {
    id: "tellAlive",
    tag: "Service",
    summary: "Is the process alive?",
    security: [],
    answers: {
      200: {
        description: "It answers.",
        headers: ["CacheControl"],
        schema: Liveness,
        examples: { alive: { summary: "Alive", value: { status: "ok" } } },
      },
    },
    errors: [],
  },
  "GET /readyz": {
    id: "tellReady",
    tag: "Service",
    summary: "Can it serve?",
    description:
      "Ready means that the store can be read and written. 503 also while shutting down. Operators, who sign in, may get more notices.",
    security: ["optional", "masterKey"],
    answers: {
      200: {
        description: "It can.",
        headers: ["CacheControl"],
        schema: Readiness,
        examples: {
          well: { summary: "All is well", value: { status: "ready", notices: [] } },
          limited: {
            summary: "The game API has limited us",
            value: {
              status: "ready",
              notices: ["The game API has limited us; it is asked again in 12 s."],
            },
          },
        },
      },
    },
    errors: ["unavailable"],
  },
  "GET /metrics": {
    id: "tellMetrics",
    tag: "Service",
    summary: "Everything that is counted",
    description: "Prometheus's text format. Takes the master key, or the token in `GATEHOUSE_METRICS_TOKEN`.",
    security: ["masterKey", "metricsToken"],
    answers: {
      200: {
        description: "The metrics.",
        headers: ["CacheControl"],
        mediaType: "text/plain",
        schema: Type.String(),
        examples: { metrics: { summary: "The first lines", value: METRICS } },
      },
    },
    errors: ["missingToken", "invalidMasterKey", "internal", "unavailable"],
  },
  "GET /openapi.json": {
    id: "tellOpenApi",
    tag: "Service",
    summary: "This document",
    description: "The same as a page for people is at `/docs`.",
    security: [],
    parameters: [FOR, IF_NONE_MATCH],
    answers: {
      200: {
        description: "OpenAPI 3.1.",
        headers: ["ETag", "CacheControl", "Vary"],
        schema: OpenApi,
        examples: { beginning: { summary: "Its beginning", value: { openapi: "3.1.1" } } },
      },
      304: {
        description: "You have the newest one.",
        headers: ["ETag", "CacheControl", "Vary"],
      },
    },
    errors: [],
  },
};
