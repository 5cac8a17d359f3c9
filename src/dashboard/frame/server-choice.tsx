// The list of servers to switch to: those of a person, those of the user's keys, or all servers for the master key.

import {
  ActionIcon,
  Anchor,
  Button,
  Group,
  PasswordInput,
  Stack,
  Text,
  TextInput,
  Tooltip,
  UnstyledButton,
} from "@mantine/core";
import { type FormEvent, type ReactNode, useContext, useState } from "react";
import { useTranslation } from "react-i18next";
import { readAllPages } from "../api/request.ts";
import { Icon } from "../parts/icon.tsx";
import { FailedState, LoadingState } from "../parts/states.tsx";
import { markInvisible, NameText } from "../parts/text/game-text.tsx";
import { Note } from "../parts/text/plain-text.tsx";
import { findServerId, hrefOf, RouteBaseContext, serverBase, useRoute } from "../state/route.ts";
import { judgeServer } from "../state/server/fleet-order.ts";
import { HELD_KEYS_MAX, type HeldKey, useKeyRing } from "../state/session/key-ring.ts";
import { useMe, useRoleTitle } from "../state/session/person.ts";
import {
  type AdminSession,
  isSession,
  type Person,
  type SignInProblem,
  signIn,
  useSession,
  valuesOfProblem,
} from "../state/session/session.ts";
import { useAdminQuery } from "../state/session/use-admin.ts";
import { StandingDot } from "../views/overview/standing.tsx";

/** More servers are found with the search. */
const SHOWN_MAX = 50;
/** With fewer servers there is nothing to search. */
const SEARCH_FROM = 8;

type Closing = { readonly onClose: () => void };

/** `onClose` closes the dialog around the list. */
export function ServerChoice({ onClose }: Closing) {
  const { session } = useSession();
  const person = session.kind === "viewer" ? undefined : session.person;
  if (person) return <PersonChoice person={person} onClose={onClose} />;
  if (session.kind === "caller") return <KeyChoice onClose={onClose} />;
  return <OperatorChoice admin={session.kind === "viewer" ? session.admin : session} onClose={onClose} />;
}

function OverviewLink({ onClose }: Closing) {
  const { t } = useTranslation("fleet");
  return (
    <Anchor href={hrefOf("overview")} onClick={onClose}>
      <Group gap="xs" component="span">
        <Icon name="overview" size={18} />
        {t("all")}
      </Group>
    </Anchor>
  );
}

function OperatorChoice({ admin, onClose }: Closing & { readonly admin: AdminSession }) {
  const list = useAdminQuery(["servers", "choice"], () => readAllPages(admin.api.listServers));
  if (list.isLoading) return <LoadingState />;
  if (list.error && !list.value) return <FailedState error={list.error} onRetry={list.refresh} />;
  const now = Date.now();
  const servers = list.value?.map((server) => {
    const side = <StandingDot key="side" standing={judgeServer(server, now)} />;
    return { id: server.server_id, name: server.name, side };
  });
  return <LinkedChoice servers={servers ?? []} onClose={onClose} />;
}

function PersonChoice({ person, onClose }: Closing & { readonly person: Person }) {
  const titleOf = useRoleTitle();
  const { servers: own, is_operator: isOperator } = useMe(person);
  const servers = own.map(({ server_id: id, name, role, title }) => {
    const side = !isOperator && (
      <Text key="side" size="xs" c="dimmed" component="span">
        <NameText text={titleOf({ name: role, title })} />
      </Text>
    );
    return { id, name, side };
  });
  return <LinkedChoice servers={servers} onClose={onClose} />;
}

type LinkedServer = { readonly id: string; readonly name: string; readonly side: ReactNode };

/** Servers whose views have addresses of their own. */
function LinkedChoice(props: Closing & { readonly servers: readonly LinkedServer[] }) {
  const { t, i18n } = useTranslation("fleet");
  const { onClose } = props;
  const base = useContext(RouteBaseContext);
  const route = useRoute();
  const [typed, setTyped] = useState("");
  const { compare } = new Intl.Collator(i18n.language, { numeric: true });
  const servers = props.servers.toSorted((a, b) => compare(a.name, b.name));
  // From outside of any server it opens with its first view.
  const view = base === "" ? "live" : (route.slice(base.length).split("/")[0] ?? "live");
  const wanted = typed.trim().toLowerCase();
  const found = servers.filter(({ name, id }) => {
    return name.toLowerCase().includes(wanted) || id.toLowerCase() === wanted;
  });
  return (
    <Stack gap="sm">
      <OverviewLink onClose={onClose} />
      {servers.length >= SEARCH_FROM && (
        <TextInput
          label={t("find")}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          leftSection={<Icon name="search" size={16} />}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
        />
      )}
      {found.length === 0 ? (
        <Text c="dimmed">{t(servers.length === 0 ? "noServers" : "noneFound")}</Text>
      ) : (
        <ul className="plain-list server-choice" aria-label={t("servers")}>
          {found.slice(0, SHOWN_MAX).map(({ id, name, side }) => (
            <li key={id}>
              <UnstyledButton
                component="a"
                href={hrefOf(`${serverBase(id)}${view}`)}
                className="server-choice-item"
                aria-current={id === findServerId(route) || undefined}
                onClick={onClose}
              >
                <NameText text={name} />
                {side}
              </UnstyledButton>
            </li>
          ))}
        </ul>
      )}
      {found.length > SHOWN_MAX && <Note>{t("moreFound", { n: found.length - SHOWN_MAX })}</Note>}
    </Stack>
  );
}

function KeyChoice({ onClose }: Closing) {
  const { t } = useTranslation("fleet");
  const { ring } = useKeyRing();
  const [isAdding, setAdding] = useState(false);
  return (
    <Stack gap="sm">
      {ring.keys.length > 1 && <OverviewLink onClose={onClose} />}
      <ul className="plain-list server-choice" aria-label={t("servers")}>
        {ring.keys.map((held) => (
          <KeyItem key={held.id} held={held} isShown={held.id === ring.shownId} onClose={onClose} />
        ))}
      </ul>
      {isAdding ? (
        <AddKeyForm onClose={onClose} />
      ) : ring.keys.length < HELD_KEYS_MAX ? (
        <Button variant="light" leftSection={<Icon name="plus" size={16} />} onClick={() => setAdding(true)}>
          {t("addKey")}
        </Button>
      ) : (
        <Text size="sm">{t("fullRing", { n: HELD_KEYS_MAX })}</Text>
      )}
    </Stack>
  );
}

function KeyItem({ held, isShown, onClose }: Closing & { readonly held: HeldKey; readonly isShown: boolean }) {
  const { t } = useTranslation("fleet");
  const { ring, show, remove } = useKeyRing();
  const name = held.name ?? t("unknownServer");
  const label = held.session?.kind === "caller" ? held.session.ownKey.label : undefined;
  const open = () => {
    onClose();
    if (!isShown) show(held.id);
  };
  const removeLabel = t("remove", { name: markInvisible(name) });
  return (
    <li className="server-choice-row">
      <UnstyledButton
        className="server-choice-item"
        aria-current={isShown || undefined}
        disabled={!held.session}
        onClick={open}
      >
        <Stack gap={0} miw={0}>
          <NameText text={name} />
          {label !== undefined && (
            <Text size="xs" c="dimmed" component="span">
              {t("key")} <NameText text={label} />
            </Text>
          )}
          {held.problem && <ProblemText problem={held.problem} />}
        </Stack>
        {isShown && <Icon name="check" size={18} />}
      </UnstyledButton>
      {ring.keys.length > 1 && (
        <Tooltip label={removeLabel}>
          <ActionIcon aria-label={removeLabel} onClick={() => remove(held.id)}>
            <Icon name="leave" size={18} />
          </ActionIcon>
        </Tooltip>
      )}
    </li>
  );
}

function ProblemText({ problem }: { readonly problem: SignInProblem }) {
  const { t } = useTranslation("signIn");
  return (
    <Text size="xs" c="var(--mantine-color-error)" component="span">
      {t(problem.text, valuesOfProblem(problem))}
    </Text>
  );
}

function AddKeyForm({ onClose }: Closing) {
  const { t } = useTranslation(["fleet", "signIn"]);
  const { add } = useKeyRing();
  const [typed, setTyped] = useState("");
  const [isChecking, setChecking] = useState(false);
  const [problem, setProblem] = useState<SignInProblem | "master">();

  async function submit(event: FormEvent) {
    event.preventDefault();
    if (isChecking) return;
    setChecking(true);
    setProblem(undefined);
    const outcome = await signIn(typed);
    setChecking(false);
    if (!isSession(outcome)) return setProblem(outcome);
    if (outcome.kind !== "caller") return setProblem("master");
    onClose();
    add(outcome, typed.trim());
  }

  return (
    <form onSubmit={(event) => void submit(event)} noValidate>
      <Stack gap="sm">
        <PasswordInput
          label={t("newKey")}
          description={t("newKeyHint")}
          placeholder={t("signIn:placeholder")}
          value={typed}
          onChange={(event) => {
            setTyped(event.currentTarget.value);
            setProblem(undefined);
          }}
          error={
            problem === "master" ? t("masterKey") : problem && t(`signIn:${problem.text}`, valuesOfProblem(problem))
          }
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          autoFocus
          required
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t("cancel", { ns: "shell" })}
          </Button>
          <Button type="submit" loading={isChecking}>
            {t("addAction")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
