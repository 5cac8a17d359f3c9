// Every view of the page: its name in the address, its icon, its text, and where its code is. Code is loaded when needed.
import { type ComponentType, lazy } from "react";
import type { en } from "./locales/en.ts";
import type { IconName } from "./parts/icon.tsx";
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
  Component: lazy(async () => ({ default: (await import("./views/commands.tsx")).CommandsView })),
};

const CALLER_VIEWS: readonly View[] = [
  view(
    "live",
    lazy(async () => ({ default: (await import("./views/live.tsx")).LiveView })),
  ),
  view(
    "map",
    lazy(async () => ({ default: (await import("./views/map.tsx")).MapView })),
  ),
  view(
    "players",
    lazy(async () => ({ default: (await import("./views/players.tsx")).PlayersView })),
  ),
  view(
    "staff",
    lazy(async () => ({ default: (await import("./views/staff.tsx")).StaffView })),
  ),
  view(
    "vehicles",
    lazy(async () => ({ default: (await import("./views/vehicles.tsx")).VehiclesView })),
  ),
  view(
    "calls",
    lazy(async () => ({ default: (await import("./views/calls.tsx")).CallsView })),
  ),
  view(
    "logs",
    lazy(async () => ({ default: (await import("./views/logs.tsx")).LogsView })),
  ),
  view(
    "plots",
    lazy(async () => ({ default: (await import("./views/plots.tsx")).PlotsView })),
  ),
];

const OPERATOR_VIEWS: readonly View[] = [
  {
    name: "servers",
    icon: "servers",
    texts: "operatorServers",
    Component: lazy(async () => ({ default: (await import("./views/operator/servers.tsx")).ServersView })),
  },
  {
    name: "keys",
    icon: "keys",
    texts: "operatorKeys",
    Component: lazy(async () => ({ default: (await import("./views/operator/keys.tsx")).KeysView })),
  },
  {
    name: "blocks",
    icon: "blocks",
    texts: "operatorBlocks",
    Component: lazy(async () => ({ default: (await import("./views/operator/blocks.tsx")).BlocksView })),
  },
  {
    name: "commands",
    icon: "commands",
    texts: "operatorCommands",
    Component: lazy(async () => ({ default: (await import("./views/operator/commands.tsx")).CommandsView })),
  },
  {
    name: "audit",
    icon: "audit",
    texts: "operatorAudit",
    Component: lazy(async () => ({ default: (await import("./views/operator/audit.tsx")).AuditView })),
  },
  {
    name: "health",
    icon: "health",
    texts: "operatorHealth",
    Component: lazy(async () => ({ default: (await import("./views/operator/health.tsx")).HealthView })),
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
