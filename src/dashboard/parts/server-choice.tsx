// The list of servers to switch to: those of the user's keys, or all servers for an operator.
import {
  ActionIcon,
  Anchor,
  Button,
  Checkbox,
  Group,
  PasswordInput,
  Stack,
  Text,
  TextInput,
  Tooltip,
  UnstyledButton,
} from "@mantine/core";
import { type FormEvent, useContext, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { SAVED_DEVICE } from "../state/device.ts";
import { judgeServer } from "../state/fleet-order.ts";
import { HELD_KEYS_MAX, type HeldKey } from "../state/key-ring.ts";
import { findServerId, hrefOf, RouteBaseContext, serverBase, useRoute } from "../state/route.ts";
import {
  isSession,
  type OperatorSession,
  type Session,
  type SignInProblem,
  signIn,
  useSession,
} from "../state/session.ts";
import { useAdminQuery } from "../state/use-admin.ts";
import { useKeyRing } from "../state/use-key-ring.ts";
import { readAllPages } from "../views/operator/names.ts";
import { StandingDot } from "../views/overview/standing.tsx";
import { useCloseSwitcher } from "./close-switcher.ts";
import { markInvisible } from "./game-text.tsx";
import { Icon } from "./icon.tsx";
import { NameText } from "./name-text.tsx";
import { FailedState, LoadingState } from "./states.tsx";

/** More servers are found with the search. */
const SHOWN_MAX = 50;
/** With fewer servers there is nothing to search. */
const SEARCH_FROM = 8;

export function ServerChoice() {
  const { session } = useSession();
  const operator = findOperator(session);
  return operator ? <OperatorChoice operator={operator} /> : <KeyChoice />;
}

function findOperator(session: Session): OperatorSession | undefined {
  if (session.kind === "viewer") return session.operator;
  return session.kind === "operator" ? session : undefined;
}

function OverviewLink() {
  const { t } = useTranslation("fleet");
  const close = useCloseSwitcher();
  return (
    <Anchor href={hrefOf("overview")} onClick={close}>
      <Group gap="xs" component="span">
        <Icon name="overview" size={18} />
        {t("all")}
      </Group>
    </Anchor>
  );
}

function OperatorChoice({ operator }: { readonly operator: OperatorSession }) {
  const { t, i18n } = useTranslation("fleet");
  const close = useCloseSwitcher();
  const base = useContext(RouteBaseContext);
  const route = useRoute();
  const [typed, setTyped] = useState("");
  const list = useAdminQuery(["servers", "choice"], () => readAllPages(operator.api.listServers));
  const servers = useMemo(() => {
    const { compare } = new Intl.Collator(i18n.language, { numeric: true });
    return list.value?.toSorted((a, b) => compare(a.name, b.name)) ?? [];
  }, [list.value, i18n.language]);
  // From the operator's own part a server opens with its first view.
  const view = base === "" ? "live" : (route.slice(base.length).split("/")[0] ?? "live");
  const wanted = typed.trim().toLowerCase();
  const found = servers.filter(({ name, server_id: id }) => {
    return name.toLowerCase().includes(wanted) || id.toLowerCase() === wanted;
  });
  if (list.isLoading) return <LoadingState />;
  if (list.error && !list.value) return <FailedState error={list.error} onRetry={list.refresh} />;
  return (
    <Stack gap="sm">
      <OverviewLink />
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
          {found.slice(0, SHOWN_MAX).map((server) => {
            const isShown = server.server_id === findServerId(route);
            return (
              <li key={server.server_id}>
                <UnstyledButton
                  component="a"
                  href={hrefOf(`${serverBase(server.server_id)}${view}`)}
                  className="server-choice-item"
                  aria-current={isShown || undefined}
                  onClick={close}
                >
                  <NameText text={server.name} />
                  <StandingDot standing={judgeServer(server, Date.now())} />
                </UnstyledButton>
              </li>
            );
          })}
        </ul>
      )}
      {found.length > SHOWN_MAX && (
        <Text size="sm" c="dimmed">
          {t("moreFound", { n: found.length - SHOWN_MAX })}
        </Text>
      )}
    </Stack>
  );
}

function KeyChoice() {
  const { t } = useTranslation("fleet");
  const { ring } = useKeyRing();
  const [isAdding, setAdding] = useState(false);
  return (
    <Stack gap="sm">
      {ring.keys.length > 1 && <OverviewLink />}
      <ul className="plain-list server-choice" aria-label={t("servers")}>
        {ring.keys.map((held) => (
          <KeyItem key={held.id} held={held} isShown={held.id === ring.shownId} />
        ))}
      </ul>
      {isAdding ? (
        <AddKeyForm />
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

function KeyItem({ held, isShown }: { readonly held: HeldKey; readonly isShown: boolean }) {
  const { t } = useTranslation("fleet");
  const { ring, show, remove } = useKeyRing();
  const close = useCloseSwitcher();
  const name = held.name ?? t("unknownServer");
  const label = held.session?.kind === "caller" ? held.session.ownKey.label : undefined;
  const open = () => {
    close();
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
  const seconds = Math.max(0, Math.ceil((problem.retryAt - Date.now()) / 1000));
  return (
    <Text size="xs" c="var(--mantine-color-error)" component="span">
      {t(problem.text, { seconds, code: problem.code })}
    </Text>
  );
}

function AddKeyForm() {
  const { t } = useTranslation(["fleet", "signIn"]);
  const { ring, add } = useKeyRing();
  const close = useCloseSwitcher();
  const [typed, setTyped] = useState("");
  const [shouldSave, setShouldSave] = useState(
    ring.keys.some(({ saved }) => saved !== undefined && saved !== SAVED_DEVICE),
  );
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
    close();
    add(outcome, shouldSave ? typed.trim() : undefined);
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
            problem === "master"
              ? t("masterKey")
              : problem &&
                t(`signIn:${problem.text}`, {
                  seconds: Math.max(0, Math.ceil((problem.retryAt - Date.now()) / 1000)),
                  code: problem.code,
                })
          }
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          autoFocus
          required
        />
        <Checkbox
          label={t("keep")}
          checked={shouldSave}
          onChange={(event) => setShouldSave(event.currentTarget.checked)}
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
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
