// Every view of the page: its name in the address, its icon, its text, and where its code is. Code is loaded when needed.
import type { ComponentType } from "react";
import type { en } from "./locales/en.ts";
import type { IconName } from "./parts/icon.tsx";
import { lateView } from "./parts/late-view.tsx";
import type { Session } from "./state/session.ts";

export type View = {
  readonly name: string;
  readonly icon: IconName;
  /** The namespace of its texts; `title` is its name for people. */
  readonly texts: Exclude<keyof typeof en, "shell" | "signIn" | "status" | "table">;
  readonly Component: ComponentType;
};

const COMMANDS: View = {
  name: "commands",
  icon: "commands",
  texts: "commands",
  Component: lateView(async () => (await import("./views/commands.tsx")).CommandsView),
};

const CALLER_VIEWS: readonly View[] = [
  view(
    "live",
    lateView(async () => (await import("./views/live.tsx")).LiveView),
  ),
  view(
    "map",
    lateView(async () => (await import("./views/map.tsx")).MapView),
  ),
  view(
    "players",
    lateView(async () => (await import("./views/players.tsx")).PlayersView),
  ),
  view(
    "staff",
    lateView(async () => (await import("./views/staff.tsx")).StaffView),
  ),
  view(
    "vehicles",
    lateView(async () => (await import("./views/vehicles.tsx")).VehiclesView),
  ),
  view(
    "calls",
    lateView(async () => (await import("./views/calls.tsx")).CallsView),
  ),
  view(
    "logs",
    lateView(async () => (await import("./views/logs.tsx")).LogsView),
  ),
  view(
    "plots",
    lateView(async () => (await import("./views/plots.tsx")).PlotsView),
  ),
];

const OPERATOR_VIEWS: readonly View[] = [
  {
    name: "servers",
    icon: "servers",
    texts: "operatorServers",
    Component: lateView(async () => (await import("./views/operator/servers.tsx")).ServersView),
  },
  {
    name: "keys",
    icon: "keys",
    texts: "operatorKeys",
    Component: lateView(async () => (await import("./views/operator/keys.tsx")).KeysView),
  },
  {
    name: "blocks",
    icon: "blocks",
    texts: "operatorBlocks",
    Component: lateView(async () => (await import("./views/operator/blocks.tsx")).BlocksView),
  },
  {
    name: "commands",
    icon: "commands",
    texts: "operatorCommands",
    Component: lateView(async () => (await import("./views/operator/commands.tsx")).CommandsView),
  },
  {
    name: "audit",
    icon: "audit",
    texts: "operatorAudit",
    Component: lateView(async () => (await import("./views/operator/audit.tsx")).AuditView),
  },
  {
    name: "health",
    icon: "health",
    texts: "operatorHealth",
    Component: lateView(async () => (await import("./views/operator/health.tsx")).HealthView),
  },
];

/** The first is where a session begins. */
export function listViews(session: Session): readonly View[] {
  if (session.kind === "operator") return OPERATOR_VIEWS;
  return session.mayCommand ? [...CALLER_VIEWS, COMMANDS] : CALLER_VIEWS;
}

function view(name: View["texts"] & IconName, Component: ComponentType): View {
  return { name, icon: name, texts: name, Component };
}
