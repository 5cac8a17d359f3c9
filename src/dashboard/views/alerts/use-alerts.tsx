// The alerts of the server for the whole page: every view shows how many there are, and they stay until they are dismissed.
import { createContext, type ReactNode, useContext, useEffect, useMemo } from "react";
import { MINUTE_MS } from "../../../core/durations.ts";
import { useLedger } from "../../state/ledger/use-ledger.ts";
import { useServerSession } from "../../state/session/session.ts";
import { useStoredSetting } from "../../state/stored-setting.ts";
import { useNow } from "../../state/time/use-format.ts";
import { type AlertList, dismiss, dismissalSetting, listAlerts } from "./alert-list.ts";

const TYPES = "alert.raised,alert.cleared";
const NONE: AlertList = { shown: [], unanswered: new Map() };
const NOTHING_DISMISSED = { since: 0, ids: [] };

const AlertsContext = createContext(NONE);

export function AlertsProvider({ children }: { readonly children: ReactNode }) {
  const { serverId } = useServerSession();
  const { list } = useLedger({ types: TYPES, isKeptHidden: true });
  const dismissals = useStoredSetting(dismissalSetting).get(serverId) ?? NOTHING_DISMISSED;
  const now = useNow(MINUTE_MS);
  // The first look is noted: who comes back sees what was over meanwhile.
  useEffect(() => {
    if (!dismissalSetting.get().has(serverId)) dismissAlerts(serverId, []);
  }, [serverId]);
  const events = list?.events;
  const alerts = useMemo(() => (events ? listAlerts(events, dismissals, now) : NONE), [events, dismissals, now]);
  return <AlertsContext value={alerts}>{children}</AlertsContext>;
}

export function useAlerts(): AlertList {
  return useContext(AlertsContext);
}

export function dismissAlerts(serverId: string, ids: readonly string[]): void {
  dismissalSetting.change((all) => dismiss(all, serverId, ids, Date.now()));
}
