// Every view of the page: its name in the URL, its icon, its texts, and how its code is loaded.
import type { en } from "./locales/en.ts";
import type { operatorEn } from "./locales/operator-en.ts";
import type { IconName } from "./parts/icon.tsx";
import type { LoadView } from "./parts/lazy-view.tsx";
import type { Session } from "./state/session.ts";

export type View = {
  readonly name: string;
  readonly icon: IconName;
  /** The namespace of its texts; the text `title` is what the user sees. */
  readonly texts:
    | Exclude<keyof typeof en, "alerts" | "keyboard" | "shell" | "signIn" | "status" | "table">
    | Exclude<keyof typeof operatorEn, "operatorReasons">;
  readonly load: LoadView;
  /** Whether the route may go on with an id or the name of a part: `activity/123`, `staff/activity`. */
  readonly takesId?: boolean;
  /** Whether the view has nothing to show without an archive. */
  readonly needsLedger?: boolean;
};

const COMMANDS: View = {
  name: "commands",
  icon: "commands",
  texts: "commands",
  load: async () => (await import("./views/commands.tsx")).CommandsView,
};

/** All servers of an operator, or of a user with several keys. */
const OVERVIEW: View = {
  name: "overview",
  icon: "overview",
  texts: "fleet",
  load: async () => (await import("./views/overview.tsx")).OverviewView,
};

const CALLER_VIEWS: readonly View[] = [
  view("live", async () => (await import("./views/live.tsx")).LiveView),
  view("map", async () => (await import("./views/map.tsx")).MapView),
  { ...view("players", async () => (await import("./views/players.tsx")).PlayersView), takesId: true },
  { ...view("staff", async () => (await import("./views/staff.tsx")).StaffView), takesId: true },
  view("vehicles", async () => (await import("./views/vehicles.tsx")).VehiclesView),
  view("calls", async () => (await import("./views/calls.tsx")).CallsView),
  view("logs", async () => (await import("./views/logs.tsx")).LogsView),
  {
    ...view("activity", async () => (await import("./views/activity.tsx")).ActivityView),
    takesId: true,
    needsLedger: true,
  },
  view("plots", async () => (await import("./views/plots.ts")).PlotsView),
];

const OPERATOR_VIEWS: readonly View[] = [
  OVERVIEW,
  {
    name: "servers",
    icon: "servers",
    texts: "operatorServers",
    load: async () => (await import("./views/operator/servers.tsx")).ServersView,
  },
  {
    name: "keys",
    icon: "keys",
    texts: "operatorKeys",
    load: async () => (await import("./views/operator/keys.tsx")).KeysView,
  },
  {
    name: "blocks",
    icon: "blocks",
    texts: "operatorBlocks",
    load: async () => (await import("./views/operator/blocks.tsx")).BlocksView,
  },
  {
    name: "commands",
    icon: "commands",
    texts: "operatorCommands",
    load: async () => (await import("./views/operator/commands.tsx")).OperatorCommandsView,
  },
  {
    name: "webhooks",
    icon: "webhooks",
    texts: "operatorWebhooks",
    load: async () => (await import("./views/operator/webhooks.tsx")).WebhooksView,
    takesId: true,
  },
  {
    name: "audit",
    icon: "audit",
    texts: "operatorAudit",
    load: async () => (await import("./views/operator/audit.tsx")).AuditView,
  },
  {
    name: "health",
    icon: "health",
    texts: "operatorHealth",
    load: async () => (await import("./views/operator/health.tsx")).HealthView,
  },
];

/** The views of a session. The first one is shown after signing in. */
export function listViews(session: Session, hasSeveralKeys = false): readonly View[] {
  if (session.kind === "operator") return OPERATOR_VIEWS;
  const views = session.kind === "caller" && session.mayCommand ? [...CALLER_VIEWS, COMMANDS] : CALLER_VIEWS;
  return hasSeveralKeys ? [...views, OVERVIEW] : views;
}

function view(name: View["texts"] & IconName, load: LoadView): View {
  return { name, icon: name, texts: name, load };
}
