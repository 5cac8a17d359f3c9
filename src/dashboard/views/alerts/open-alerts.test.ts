import { expect, test } from "bun:test";
import type { EventResource } from "../../../core/wire/event.ts";
import { listOpenAlerts } from "./open-alerts.ts";

let count = 0;

function alert(type: "raised" | "cleared", rule: string, subject: string, call?: string): EventResource {
  const meta = call === undefined ? {} : { events: [call] };
  const data = { rule, subject, text: "" };
  const id = `event-${++count}`;
  return { id, type: `alert.${type}`, at: count, data, meta } as unknown as EventResource;
}

/** Told in the order of time. */
function listRules(...events: readonly EventResource[]): readonly string[] {
  return listOpenAlerts(events.toReversed()).map(({ rule, subject }) => `${rule} ${subject}`);
}

test("an alert is open until it is cleared, and again when it is raised again", () => {
  const raised = alert("raised", "kills", "Bob:2");
  expect(listRules(raised)).toEqual(["kills Bob:2"]);
  expect(listRules(raised, alert("cleared", "kills", "Bob:2"))).toEqual([]);
  expect(listRules(raised, alert("cleared", "kills", "Bob:2"), alert("raised", "kills", "Bob:2"))).toEqual([
    "kills Bob:2",
  ]);
});

test("alerts of other subjects, rules and calls are other alerts, newest first", () => {
  expect(
    listRules(
      alert("raised", "kills", "Bob:2"),
      alert("raised", "offline", "server"),
      alert("raised", "unanswered_modcall", "Anna:1", "call-1"),
      alert("raised", "unanswered_modcall", "Anna:1", "call-2"),
      alert("cleared", "unanswered_modcall", "Anna:1", "call-1"),
      alert("cleared", "kills", "Cid:3"),
    ),
  ).toEqual(["unanswered_modcall Anna:1", "offline server", "kills Bob:2"]);
});

test("an event of another form is no reason to fail", () => {
  const broken = { id: "x", type: "alert.raised", at: 0, data: null, meta: null } as unknown as EventResource;
  expect(listOpenAlerts([broken])).toHaveLength(1);
});
