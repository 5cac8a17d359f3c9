// The box that finds anybody who was ever on the server, and the views, the waiting calls and the servers. The field keeps the
// focus: arrows move through what was found, Enter opens it.
import { Loader, Text, TextInput, VisuallyHidden } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, type ReactNode, useContext, useEffect, useId, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Section } from "../../../core/sections.ts";
import type { ModCallResource } from "../../../core/wire/players.ts";
import { readAllPages } from "../../api/request.ts";
import { focusOpener } from "../../parts/dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { cutText, MarkedText } from "../../parts/text/game-text.tsx";
import { Note } from "../../parts/text/plain-text.tsx";
import { PlayerInitials } from "../../parts/text/player-name.tsx";
import { parsePlayerRef } from "../../player-ref.ts";
import { useCallGroups } from "../../state/calls/use-mod-calls.tsx";
import { openPlayer } from "../../state/open-player.ts";
import { findServerId, hrefOf, RouteBaseContext, serverBase, useViewHref } from "../../state/route.ts";
import { useServerState } from "../../state/server/use-server-state.tsx";
import { useKeyRing } from "../../state/session/key-ring.ts";
import { useMe } from "../../state/session/person.ts";
import { type AdminSession, type Person, useSession } from "../../state/session/session.ts";
import type { View } from "../view-list.ts";
import { type FoundPlayer, fitsTitle, joinPlayers, PLAYERS_MAX, simplify } from "./find.ts";

const SEARCH_DELAY_MS = 150;
const NAME_MAX = 60;
const CALLS_MAX = 5;
const SERVERS_MAX = 8;
const PLAYERS: readonly Section[] = ["Players"];

type PaletteProps = {
  readonly views: readonly View[];
  readonly onClose: () => void;
};

type Item = {
  readonly key: string;
  readonly icon: ReactNode;
  readonly text: string;
  /** Small, behind the text. */
  readonly side?: string | undefined;
  readonly open: () => void;
};

type Group = { readonly title: "views" | "players" | "calls" | "servers"; readonly items: readonly Item[] };

type ServerRef = { readonly key: string; readonly name: string; readonly open: () => void };

export function Palette(props: PaletteProps) {
  const { session } = useSession();
  const person = session.kind === "viewer" ? undefined : session.person;
  if (person) return <PersonPalette {...props} person={person} />;
  if (session.kind === "caller") return <KeyPalette {...props} />;
  return <OperatorPalette {...props} admin={session.kind === "viewer" ? session.admin : session} />;
}

function PersonPalette({ person, ...props }: PaletteProps & { readonly person: Person }) {
  const { servers } = useMe(person);
  return <ServersPalette {...props} servers={useServerLinks(servers)} />;
}

function OperatorPalette({ admin, ...props }: PaletteProps & { readonly admin: AdminSession }) {
  const { data } = useQuery({
    queryKey: ["palette", "servers"],
    queryFn: () => readAllPages(admin.api.listServers),
    networkMode: "always",
    retry: false,
  });
  return <ServersPalette {...props} servers={useServerLinks(data?.ok ? data.value : [])} />;
}

function KeyPalette(props: PaletteProps) {
  const { ring, show } = useKeyRing();
  const servers = ring.keys.flatMap(({ id, name, session }): ServerRef[] => {
    if (!session || id === ring.shownId) return [];
    return [{ key: String(id), name: name ?? "", open: () => show(id) }];
  });
  return <ServersPalette {...props} servers={servers} />;
}

/** Links to the live view of each server but the open one. */
function useServerLinks(
  servers: readonly { readonly server_id: string; readonly name: string }[],
): readonly ServerRef[] {
  const base = useContext(RouteBaseContext);
  return servers
    .filter(({ server_id: id }) => base === "" || id !== findServerId(base))
    .map(({ server_id: id, name }) => ({ key: id, name, open: () => goTo(hrefOf(`${serverBase(id)}live`)) }));
}

type BoxProps = PaletteProps & { readonly servers: readonly ServerRef[] };

function ServersPalette(props: BoxProps) {
  const { session } = useSession();
  return session.kind === "admin" ? <OutsidePalette {...props} /> : <ServerPalette {...props} />;
}

/** Outside of any server there are no players and no calls. */
function OutsidePalette(props: BoxProps) {
  const [typed, setTyped] = useState("");
  const views = useViewItems(props.views, typed);
  const groups: Group[] = [
    { title: "views", items: views },
    { title: "servers", items: findServers(props.servers, typed) },
  ];
  return <PaletteBox groups={groups} isLooking={false} typed={typed} onType={setTyped} onClose={props.onClose} />;
}

function ServerPalette(props: BoxProps) {
  const { t } = useTranslation("palette");
  const [typed, setTyped] = useState("");
  const { state } = useServerState(PLAYERS);
  const { known, isLooking, hasFailed } = useKnownPlayers(typed);
  const players = joinPlayers(state?.Players ?? [], known, typed).map((player) => toItem(player, t("here")));
  const views = { title: "views", items: useViewItems(props.views, typed) } as const;
  const calls = { title: "calls", items: useCallItems(useCallGroups()?.open ?? [], typed) } as const;
  const servers = { title: "servers", items: findServers(props.servers, typed) } as const;
  const isEmpty = simplify(typed) === "";
  return (
    <PaletteBox
      groups={isEmpty ? [calls, views, servers] : [views, { title: "players", items: players }, calls, servers]}
      isLooking={isLooking}
      problem={hasFailed ? t("onlyHere") : undefined}
      typed={typed}
      onType={setTyped}
      onClose={props.onClose}
    />
  );
}

/** Those whom Gatehouse remembers, read a moment after the last key; nobody for a key that may not read players. */
function useKnownPlayers(typed: string) {
  const { session } = useSession();
  const wanted = simplify(typed);
  const [settled] = useDebouncedValue(wanted, SEARCH_DELAY_MS);
  const api = session.kind === "caller" && session.sections.includes("Players") ? session.api : undefined;
  const { data, isFetching } = useQuery({
    queryKey: ["palette", settled],
    queryFn: async ({ signal }) => (await api?.listPlayers({ query: settled, limit: PLAYERS_MAX }, signal)) ?? null,
    enabled: api !== undefined && settled !== "",
    networkMode: "always",
    retry: false,
  });
  const isLooking = api !== undefined && wanted !== "" && (wanted !== settled || isFetching);
  const isAnswer = wanted === settled && wanted !== "";
  return {
    known: isAnswer && data?.ok ? data.value.items : [],
    isLooking,
    hasFailed: isAnswer && data?.ok === false,
  };
}

function toItem(player: FoundPlayer, here: string): Item {
  const { id, name, isHere } = player;
  return {
    key: `player ${id}`,
    icon: <PlayerInitials player={{ id, name }} />,
    text: name === "" ? id : name,
    side: isHere ? `${here} · ${id}` : id,
    open: () => openPlayer({ id, name }),
  };
}

function useViewItems(views: readonly View[], typed: string): readonly Item[] {
  const { t } = useTranslation();
  const hrefInside = useViewHref();
  return views
    .map((view) => ({ view, text: t("title", { ns: view.texts }) }))
    .filter(({ text }) => fitsTitle(text, typed))
    .map(({ view, text }) => ({
      key: `view ${view.name}`,
      icon: <Icon name={view.icon} size={18} />,
      text,
      open: () => goTo(hrefInside(view.name)),
    }));
}

function useCallItems(calls: readonly ModCallResource[], typed: string): readonly Item[] {
  const hrefInside = useViewHref();
  return calls
    .map(({ id: call, caller }) => ({ ...parsePlayerRef(caller), call }))
    .filter(({ name }) => simplify(name).includes(simplify(typed)))
    .slice(0, CALLS_MAX)
    .map(({ name, id, call }) => ({
      key: `call ${call}`,
      icon: <PlayerInitials player={{ name, id }} />,
      text: name,
      side: id,
      open: () => goTo(hrefInside("calls")),
    }));
}

function findServers(servers: readonly ServerRef[], typed: string): readonly Item[] {
  const wanted = simplify(typed);
  return servers
    .filter(({ name }) => simplify(name).includes(wanted))
    .slice(0, SERVERS_MAX)
    .map(({ key, name, open }) => ({
      key: `server ${key}`,
      icon: <Icon name="servers" size={18} />,
      text: name,
      open,
    }));
}

function goTo(href: string): void {
  location.hash = href;
}

/** The field and the list below it. */
function PaletteBox(props: {
  readonly groups: readonly Group[];
  /** Whether players are still being looked for. */
  readonly isLooking: boolean;
  readonly problem?: string | undefined;
  readonly typed: string;
  readonly onType: (typed: string) => void;
  readonly onClose: () => void;
}) {
  const { t } = useTranslation("palette");
  const { isLooking, typed } = props;
  const id = useId();
  const [chosenKey, setChosenKey] = useState<string>();
  const [isEntered, setEntered] = useState(false);
  const groups = props.groups.filter(({ items }) => items.length > 0);
  const items = groups.flatMap((group) => group.items);
  const active = items.find(({ key }) => key === chosenKey) ?? items[0];
  // What is found at once comes before the players who are still being looked for.
  const isSure = !isLooking || active?.key === chosenKey || ["views", "players"].includes(groups[0]?.title ?? "");
  const idOf = (item: Item) => `${id}-${item.key.replaceAll(" ", "-")}`;
  const activeId = active && idOf(active);

  function open(item: Item) {
    props.onClose();
    focusOpener();
    item.open();
  }

  useEffect(() => {
    if (activeId !== undefined) document.getElementById(activeId)?.scrollIntoView({ block: "nearest" });
  }, [activeId]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: once the awaited players are there
  useEffect(() => {
    if (isEntered && !isLooking && active) open(active);
    if (!isLooking) setEntered(false);
  }, [isEntered, isLooking]);

  function press(event: KeyboardEvent) {
    if (event.nativeEvent.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && active) {
      const next = (items.indexOf(active) + step + items.length) % items.length;
      setChosenKey(items[next]?.key);
      event.preventDefault();
    }
    if (event.key !== "Enter") return;
    event.preventDefault();
    if (event.repeat) return;
    if (active && isSure) open(active);
    else setEntered(true);
  }

  return (
    <div className="palette">
      <TextInput
        role="combobox"
        aria-label={t("title")}
        aria-expanded={items.length > 0}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={activeId}
        placeholder={t("placeholder")}
        value={typed}
        onChange={(event) => {
          props.onType(event.currentTarget.value);
          setChosenKey(undefined);
          setEntered(false);
        }}
        onKeyDown={press}
        leftSection={<Icon name="search" size={18} />}
        rightSection={isLooking && <Loader size="xs" aria-hidden />}
        size="md"
        variant="unstyled"
        autoComplete="off"
        spellCheck={false}
        maxLength={100}
        // The first time the dialog is open before this is loaded.
        autoFocus
        data-autofocus
      />
      <div id={`${id}-list`} role="listbox" aria-label={t("title")} className="palette-list">
        {groups.map(({ title, items: found }) => (
          // biome-ignore lint/a11y/useSemanticElements: a fieldset has no options
          <div key={title} role="group" aria-label={t(title)}>
            <div className="palette-title" aria-hidden>
              {t(title)}
            </div>
            {found.map((item) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: the field has the focus and the keys
              <div
                key={item.key}
                id={idOf(item)}
                role="option"
                aria-selected={item === active}
                className="suggestion"
                // The field keeps the focus.
                onMouseDown={(event) => event.preventDefault()}
                onClick={() => open(item)}
              >
                {item.icon}
                <bdi className="palette-text untrusted">
                  <MarkedText text={cutText(item.text, NAME_MAX).text} />
                </bdi>
                {item.side !== undefined && (
                  <Text size="xs" c="dimmed" component="span" className="numbers">
                    {item.side}
                  </Text>
                )}
              </div>
            ))}
          </div>
        ))}
      </div>
      {items.length === 0 && !isLooking && (
        <Note p="md" ta="center">
          {t("nothing")}
        </Note>
      )}
      {props.problem && <Note p="xs">{props.problem}</Note>}
      <VisuallyHidden role="status">{isLooking ? "" : t("found", { count: items.length })}</VisuallyHidden>
    </div>
  );
}
