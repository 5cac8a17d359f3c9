// The frame of a person: of one of their servers, or outside of any server, where they have what their roles allow.
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import type { ApiError } from "../api/request.ts";
import { LazyView } from "../parts/lazy-view.tsx";
import { LoadingState, Notice } from "../parts/states.tsx";
import { LiveStreamProvider } from "../state/ledger/use-live-stream.tsx";
import { findServerId, hrefOf, RouteBaseContext, serverBase, useRoute } from "../state/route.ts";
import { ServerStateProvider } from "../state/server/use-server-state.tsx";
import { listAbilities, useMe, usePersonRefresh } from "../state/session/person.ts";
import {
  type CallerSession,
  endsSession,
  isSession,
  type Person,
  SessionContext,
  type SignInProblem,
  useAdminSession,
  useSession,
  valuesOfProblem,
} from "../state/session/session.ts";
import { FrameBody } from "./frame.tsx";

export const loadOperatorFrame = async () => (await import("./operator-frame.tsx")).OperatorFrame;

/** How often a server's page asks whether the rights of the role have changed. */
const RIGHTS_INTERVAL_MS = 60_000;

export function PersonFrame() {
  const { person } = useAdminSession();
  if (!person) throw new Error("this frame is for people");
  const me = useMe(person);
  const { signOut } = useSession();
  const route = useRoute();
  const isFirst = useRef(true);
  const serverId = findServerId(route);
  const [only, ...others] = me.servers;
  const home = only && others.length === 0 && !me.is_operator ? hrefOf(`${serverBase(only.server_id)}live`) : undefined;
  usePersonRefresh(person, signOut);

  useEffect(() => {
    if (route === "" && home !== undefined) location.replace(home);
  }, [route, home]);

  if (serverId !== undefined) return <PersonServerFrame key={serverId} {...{ person, serverId, isFirst }} />;
  if (route === "" && home !== undefined) return <LoadingState />;
  // Who has nothing there does not load the texts of the operator's views.
  if (listAbilities(me).size > 0) return <LazyView load={loadOperatorFrame} />;
  return <FrameBody name={undefined} isFirst={isFirst} />;
}

type ServerFrameProps = {
  readonly person: Person;
  readonly serverId: string;
  readonly isFirst: RefObject<boolean>;
};

function PersonServerFrame({ person, serverId, isFirst }: ServerFrameProps) {
  const { t } = useTranslation(["signIn", "fleet"]);
  const me = useMe(person);
  const listed = me.servers.find(({ server_id: id }) => id === serverId);
  const [opened, setOpened] = useState<CallerSession | SignInProblem>();
  const [attempt, setAttempt] = useState(0);
  const reopen = useCallback(() => {
    person.forgetServer(serverId);
    setAttempt((before) => before + 1);
  }, [person, serverId]);
  // Another role is another session.
  const role = listed?.role;
  const lastRole = useRef(role);
  useEffect(() => {
    if (lastRole.current !== role) reopen();
    lastRole.current = role;
  }, [role, reopen]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each attempt opens it again
  useEffect(() => {
    let isLeft = false;
    void person.openServer(serverId).then((outcome) => isLeft || setOpened(outcome));
    return () => {
      isLeft = true;
    };
  }, [person, serverId, attempt]);

  if (!opened) return <LoadingState />;
  if (isSession(opened)) {
    return <OpenedServer key={attempt} session={opened} name={listed?.name} isFirst={isFirst} onChange={reopen} />;
  }
  return (
    <FrameBody name={undefined} isFirst={isFirst}>
      <Notice icon="servers" title={t("fleet:notOpened")}>
        {t(opened.text, valuesOfProblem(opened))}
      </Notice>
    </FrameBody>
  );
}

function OpenedServer(props: {
  readonly session: CallerSession;
  readonly name: string | undefined;
  readonly isFirst: RefObject<boolean>;
  /** Called when the rights are other ones, or the token is refused. */
  readonly onChange: () => void;
}) {
  const { session, onChange } = props;
  const { signOut } = useSession();
  const context = useMemo(
    () => ({
      session,
      signOut: async (because?: ApiError) => {
        if (!because) return signOut();
        const error = await session.person?.refresh();
        if (error && endsSession(error)) signOut(error);
        else onChange();
      },
    }),
    [session, signOut, onChange],
  );
  // Each server has its own cache, so that nothing of one server is shown for another.
  const client = useMemo(() => new QueryClient(), []);
  useRightsCheck(session, onChange);
  return (
    <SessionContext value={context}>
      <QueryClientProvider client={client}>
        <RouteBaseContext value={serverBase(session.serverId)}>
          <LiveStreamProvider>
            <ServerStateProvider>
              <ServerBody {...props} />
            </ServerStateProvider>
          </LiveStreamProvider>
        </RouteBaseContext>
      </QueryClientProvider>
    </SessionContext>
  );
}

function ServerBody(props: { readonly name: string | undefined; readonly isFirst: RefObject<boolean> }) {
  const { t } = useTranslation("fleet");
  return <FrameBody name={props.name} isFirst={props.isFirst} back={{ href: hrefOf("overview"), label: t("title") }} />;
}

/** Asks from time to time whether the role may still do what it could when the server was opened. */
function useRightsCheck({ api, ownKey }: CallerSession, onChange: () => void): void {
  useEffect(() => {
    const rightsOf = ({ sections, commands, hide, may }: CallerSession["ownKey"]) =>
      JSON.stringify([sections, commands, hide, may]);
    const check = async () => {
      if (document.hidden) return;
      const outcome = await api.readKey();
      if (outcome.ok && rightsOf(outcome.value) !== rightsOf(ownKey)) onChange();
    };
    const timer = setInterval(check, RIGHTS_INTERVAL_MS);
    return () => clearInterval(timer);
  }, [api, ownKey, onChange]);
}
