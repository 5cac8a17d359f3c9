// Every view of the page: its name in the URL, its icon, its texts, and how its code is loaded.

import type { Ability } from "../../core/keys/rights.ts";
import type { Section } from "../../core/sections.ts";
import type { en } from "../locales/en/page.ts";
import type { operatorEn } from "../locales/operator-en.ts";
import type { IconName } from "../parts/icon.tsx";
import type { LoadView } from "../parts/lazy-view.tsx";
import { listAbilities } from "../state/session/person.ts";
import type { AdminSession, CallerSession, Session } from "../state/session/session.ts";
import type { OPERATOR_COMPONENTS } from "../views/operator/components.ts";

export type View = {
  readonly name: string;
  readonly icon: IconName;
  /** The namespace of its texts; the text `title` is what the user sees. */
  readonly texts:
    | Exclude<keyof typeof en, "alerts" | "keyboard" | "palette" | "shell" | "signIn" | "status" | "table">
    | Exclude<keyof typeof operatorEn, "operator" | "operatorReasons">;
  readonly load: LoadView;
  /** Whether the route may go on with an id or the name of a part: `activity/123`, `staff/activity`. */
  readonly takesId?: boolean;
  /** Whether the view has nothing to show without an archive. */
  readonly needsLedger?: boolean;
  /** Without any of these sections it has nothing to show. */
  readonly sections?: readonly Section[];
  /** Who may do none of this on any server has nothing there. "operator": only operators have. */
  readonly needs?: readonly Ability[] | "operator";
};

const COMMANDS = view("commands", "commands", async () => {
  return (await import("../views/commands/commands-view.tsx")).CommandsView;
});

/** All servers of an operator, or of a user with several keys. */
const OVERVIEW = view("overview", "fleet", async () => {
  return (await import("../views/overview/overview-view.tsx")).OverviewView;
});

const CALLER_VIEWS: readonly View[] = [
  view("live", "live", async () => (await import("../views/live/pages.ts")).LiveView),
  view("map", "map", async () => (await import("../views/map/map-view.tsx")).MapView, {
    sections: ["Players", "EmergencyCalls"],
  }),
  view("players", "players", async () => (await import("../views/players/players-view.tsx")).PlayersView, {
    takesId: true,
    sections: ["Players"],
  }),
  view("staff", "staff", async () => (await import("../views/staff/staff-view.tsx")).StaffView, {
    takesId: true,
    sections: ["Staff", "Players", "CommandLogs"],
  }),
  view("vehicles", "vehicles", async () => (await import("../views/vehicles/vehicles-view.tsx")).VehiclesView, {
    sections: ["Vehicles"],
  }),
  view("calls", "calls", async () => (await import("../views/live/pages.ts")).CallsView, {
    sections: ["ModCalls", "EmergencyCalls"],
  }),
  view("logs", "logs", async () => (await import("../views/logs/logs-view.tsx")).LogsView, {
    sections: ["JoinLogs", "KillLogs", "CommandLogs", "ModCalls"],
  }),
  view("activity", "activity", async () => (await import("../views/activity/activity-view.tsx")).ActivityView, {
    takesId: true,
    needsLedger: true,
  }),
  view("plots", "plots", async () => (await import("../views/plots/pages.ts")).PlotsView),
];

const ADMIN_VIEWS: readonly View[] = [
  OVERVIEW,
  operatorView("servers", "operatorServers", { needs: ["status", "alerts"] }),
  operatorView("people", "operatorPeople", { needs: ["people"], takesId: true }),
  operatorView("keys", "operatorKeys", { needs: ["keys"] }),
  operatorView("blocks", "operatorBlocks", { needs: ["keys"] }),
  operatorView("commands", "operatorCommands", { needs: ["keys"] }),
  operatorView("webhooks", "operatorWebhooks", { needs: ["webhooks"], takesId: true }),
  operatorView("audit", "operatorAudit", { needs: ["people", "exports"] }),
  operatorView("health", "operatorHealth", { needs: "operator" }),
];

/** One's own page. */
const ME = view("me", "me", async () => (await import("../views/me/me-view.tsx")).MeView);

/** The views of a session. The first one is shown after signing in. */
export function listViews(session: Session, hasSeveralKeys = false): readonly View[] {
  if (session.kind === "admin") return listAdminViews(session);
  const views = session.kind === "caller" ? listCallerViews(session) : CALLER_VIEWS;
  return hasSeveralKeys ? [...views, OVERVIEW] : views;
}

/** A phone has room for these; the first ones of the others fill up. */
const PHONE_VIEWS = ["live", "map", "players", "calls"];

export function splitForPhone(views: readonly View[]): {
  readonly bar: readonly View[];
  readonly rest: readonly View[];
} {
  const wanted = views.filter(({ name }) => PHONE_VIEWS.includes(name));
  const others = views.filter((view) => !wanted.includes(view));
  const free = PHONE_VIEWS.length - wanted.length;
  return { bar: [...wanted, ...others.slice(0, free)], rest: others.slice(free) };
}

function listCallerViews({ sections, hide, mayCommand }: CallerSession): readonly View[] {
  const readable = CALLER_VIEWS.filter(({ sections: needed, name }) => {
    if (name === "map" && hide.includes("Location")) return false;
    return needed === undefined || needed.some((section) => sections.includes(section));
  });
  return mayCommand ? [...readable, COMMANDS] : readable;
}

function listAdminViews({ person }: AdminSession): readonly View[] {
  if (!person) return ADMIN_VIEWS;
  const me = person.read();
  const abilities = listAbilities(me);
  const open = ADMIN_VIEWS.filter(({ needs }) => {
    if (me.is_operator || needs === undefined) return true;
    return needs !== "operator" && needs.some((ability) => abilities.has(ability));
  });
  return [...open, ME];
}

/** The icon has the name of the view. */
function view(name: IconName, texts: View["texts"], load: LoadView, more: Partial<View> = {}): View {
  return { name, icon: name, texts, load, ...more };
}

function operatorView(
  name: keyof typeof OPERATOR_COMPONENTS & IconName,
  texts: View["texts"],
  more: Partial<View>,
): View {
  const load = async () => (await import("../views/operator/components.ts")).OPERATOR_COMPONENTS[name];
  return view(name, texts, load, more);
}
