// The frame around every view: header with the status, navigation (on a phone a bar at the bottom, and the rest behind "More"),
// and the view itself.
import { ActionIcon, AppShell, Group, NavLink, ScrollArea, UnstyledButton, VisuallyHidden } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { type ReactNode, type RefObject, useContext, useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import { useDialog } from "../parts/dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { ErrorBoundary, LazyView } from "../parts/lazy-view.tsx";
import { Notice } from "../parts/states.tsx";
import { usePhone } from "../parts/table/table-toolbar.tsx";
import { cutText, markInvisible } from "../parts/text/game-text.tsx";
import { PlayerTeamsProvider } from "../parts/text/player-name.tsx";
import { ModCallsProvider, useWaitingCount } from "../state/calls/use-mod-calls.tsx";
import { useLedgerIsOff } from "../state/ledger/use-ledger.ts";
import { RouteBaseContext, useRoute, useViewHref } from "../state/route.ts";
import { findShown, useKeyRing } from "../state/session/key-ring.ts";
import { useMe } from "../state/session/person.ts";
import { useSession } from "../state/session/session.ts";
import { AlertsProvider, useAlerts } from "../views/alerts/use-alerts.tsx";
import { AlertsButton } from "./alerts-button.tsx";
import { Keyboard } from "./keyboard/keyboard.tsx";
import { NameMenu } from "./name-menu.tsx";
import { PlayerDrawer } from "./player-drawer.tsx";
import { useServerLook } from "./server-look.tsx";
import { ServerSwitcher } from "./server-switcher.tsx";
import { RequestsLeft, StatusBar } from "./status-bar.tsx";
import { useRings } from "./use-rings.ts";
import { listViews, splitForPhone, type View } from "./view-list.ts";

const MAIN_ID = "content";
const NAVIGATION_ID = "navigation";
const NAME_MAX = 200;
const WAITING_SHOWN_MAX = 99;

type FrameBodyProps = {
  /** The name of the server; undefined for operators, and until the first answer. */
  readonly name: string | undefined;
  /** Whether no view was shown before this frame. */
  readonly isFirst: RefObject<boolean>;
  /** Out of this server, above its views in the navigation. */
  readonly back?: { readonly href: string; readonly label: string };
  /** Above every view. */
  readonly banner?: ReactNode;
  /** Instead of the view. */
  readonly children?: ReactNode;
};

export function FrameBody(props: FrameBodyProps) {
  const { session } = useSession();
  if (session.kind === "admin") return <FrameContent {...props} />;
  return (
    <ModCallsProvider>
      <PlayerTeamsProvider>
        <AlertsProvider>
          <RingingContent {...props} />
        </AlertsProvider>
      </PlayerTeamsProvider>
    </ModCallsProvider>
  );
}

function RingingContent(props: FrameBodyProps) {
  useRings(props.name);
  return <FrameContent {...props} />;
}

function FrameContent(props: FrameBodyProps) {
  const { name, isFirst, back } = props;
  const { session } = useSession();
  const { t } = useTranslation(["shell", "calls", "fleet"]);
  const [isOpen, { toggle, close }] = useDisclosure(false);
  const help = useDialog<true>();
  const palette = useDialog<true>();
  const { ring } = useKeyRing();
  const person = session.kind === "viewer" ? undefined : session.person;
  // The views of a person change with their roles.
  useMe(person);
  const views = listViews(session, ring.keys.length > 1);
  const isPhone = usePhone();
  const { bar, rest } = splitForPhone(views);
  const route = useRoute();
  const base = useContext(RouteBaseContext);
  const current = route === base ? views[0] : views.find((view) => isRouteOf(view, base, route));
  const main = useRef<HTMLDivElement>(null);
  // With several keys it is the name that the list of servers has, which can differ from the one in the game.
  const listedName = ring.keys.length > 1 ? findShown(ring)?.name : undefined;
  const outside = t(person ? "fleet:all" : "operator");
  // What the game calls it is not known before the first reading, which an offline server may never give.
  const serverName = listedName ?? name ?? (session.kind === "caller" ? session.ownKey.server_name : t("product"));
  const heading = session.kind === "admin" ? outside : cutText(serverName, NAME_MAX).text;
  const plainHeading = markInvisible(heading);
  const viewTitle = current ? t("title", { ns: current.texts }) : t("notFound");
  const waiting = useWaitingCount();
  const waitingText = waiting > 0 ? t("calls:waitingCount", { count: waiting }) : "";
  useServerLook(heading, waiting > 0);

  const alertCount = useAlerts().shown.length;

  useEffect(() => {
    const counts = `${waiting > 0 ? `(${waiting}) ` : ""}${alertCount > 0 ? `⚠${alertCount} ` : ""}`;
    document.title = `${counts}${viewTitle} · ${plainHeading}`;
  }, [viewTitle, plainHeading, waiting, alertCount]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: runs only when the route changes
  useEffect(() => {
    close();
    // Keyboard and screen reader users continue in the new view.
    if (!isFirst.current) main.current?.focus({ preventScroll: true });
    isFirst.current = false;
    scrollTo(0, 0);
  }, [route]);

  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 200, breakpoint: "sm", collapsed: { mobile: !isOpen } }}
      footer={{ height: { base: 56, sm: 0 } }}
      padding={{ base: "sm", sm: "md" }}
    >
      <a
        className="skip-link"
        href={`#${MAIN_ID}`}
        onClick={(event) => {
          // The part of the URL after # names a view, so the link must not change it.
          event.preventDefault();
          main.current?.focus();
        }}
      >
        {t("skip")}
      </a>
      <AppShell.Header className="frame-header">
        <Group h="100%" px={{ base: 8, sm: "sm" }} justify="space-between" wrap="nowrap" gap="xs">
          <Group gap="xs" wrap="nowrap" miw={0}>
            <ServerSwitcher heading={heading} />
            {session.kind !== "admin" && <StatusBar />}
          </Group>
          <Group gap={4} wrap="nowrap" flex="none">
            <FindButton onClick={() => palette.open(true)} />
            {session.kind !== "admin" && <AlertsButton sections={session.sections} />}
            {!isPhone && <NameMenu onHelp={() => help.open(true)} />}
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar
        id={NAVIGATION_ID}
        p="xs"
        aria-label={t("navigation")}
        data-open={isOpen || undefined}
        onKeyDown={(event) => {
          if (event.key !== "Escape" || !isOpen || !event.currentTarget.contains(event.target as Node)) return;
          close();
          document.getElementById(MORE_ID)?.focus();
        }}
      >
        <AppShell.Section grow component={ScrollArea} type="auto">
          {back && (
            <NavLink href={back.href} label={back.label} leftSection={<Icon name="back" size={18} />} onClick={close} />
          )}
          {(isPhone ? rest : views).map((view) => (
            <ViewLink key={view.name} view={view} isActive={view === current} onFollow={close} />
          ))}
        </AppShell.Section>
        {isPhone && (
          <AppShell.Section pt="sm">
            <NameMenu onHelp={() => help.open(true)} />
          </AppShell.Section>
        )}
      </AppShell.Navbar>
      <AppShell.Main ref={main} id={MAIN_ID} tabIndex={-1} className="view">
        <VisuallyHidden aria-live="polite">{waitingText}</VisuallyHidden>
        {props.banner}
        {session.kind !== "admin" && <RequestsLeft />}
        <ErrorBoundary key={route}>
          {props.children ||
            (current ? <LazyView load={current.load} /> : <Notice icon="search" title={t("notFound")} />)}
        </ErrorBoundary>
      </AppShell.Main>
      {isPhone && (
        <AppShell.Footer>
          <PhoneBar views={bar} current={current} isOpen={isOpen} onToggle={toggle} onFollow={close} />
        </AppShell.Footer>
      )}
      <Keyboard views={views} help={help} palette={palette} />
      {session.kind !== "admin" && <PlayerDrawer />}
    </AppShell>
  );
}

/** Opens the box that finds players, views, calls and servers. */
function FindButton({ onClick }: { readonly onClick: () => void }) {
  const { t } = useTranslation("palette");
  return (
    <>
      <UnstyledButton className="find-button" onClick={onClick} aria-haspopup="dialog" visibleFrom="md">
        <Icon name="search" size={16} />
        <span>{t("open")}</span>
        <kbd aria-hidden>{FIND_KEYS}</kbd>
      </UnstyledButton>
      <ActionIcon aria-label={t("open")} onClick={onClick} aria-haspopup="dialog" hiddenFrom="md">
        <Icon name="search" />
      </ActionIcon>
    </>
  );
}

const FIND_KEYS = /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘K" : "Ctrl K";
const MORE_ID = "more-views";

/** The views that a moderator on the way needs, under the thumb. */
function PhoneBar(props: {
  readonly views: readonly View[];
  readonly current: View | undefined;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
  readonly onFollow: () => void;
}) {
  const { t } = useTranslation("shell");
  const { views, current, isOpen } = props;
  return (
    <nav className="phone-bar" aria-label={t("bar")}>
      {views.map((view) => (
        <BarLink key={view.name} view={view} isActive={view === current && !isOpen} onFollow={props.onFollow} />
      ))}
      <UnstyledButton
        id={MORE_ID}
        className="phone-bar-item"
        aria-expanded={isOpen}
        aria-controls={NAVIGATION_ID}
        data-active={isOpen || (current !== undefined && !views.includes(current)) || undefined}
        onClick={() => {
          props.onToggle();
          // The opened list is the place to go on; it is visible after this.
          if (!isOpen) setTimeout(() => document.querySelector<HTMLElement>(`#${NAVIGATION_ID} a`)?.focus());
        }}
      >
        <Icon name={isOpen ? "close" : "menu"} />
        <span>{t(isOpen ? "close" : "more")}</span>
      </UnstyledButton>
    </nav>
  );
}

function BarLink(props: { readonly view: View; readonly isActive: boolean; readonly onFollow: () => void }) {
  const { t } = useTranslation();
  const { view, isActive } = props;
  const hrefInside = useViewHref();
  return (
    <a
      className="phone-bar-item"
      href={hrefInside(view.name)}
      aria-current={isActive ? "page" : undefined}
      data-active={isActive || undefined}
      onClick={props.onFollow}
    >
      <span className="phone-bar-icon">
        <Icon name={view.icon} />
        {view.name === "calls" && <WaitingBadge />}
      </span>
      <span>{t("title", { ns: view.texts })}</span>
    </a>
  );
}

function isRouteOf({ name, takesId = false }: View, base: string, route: string): boolean {
  return route === base + name || (takesId && route.startsWith(`${base}${name}/`));
}

function ViewLink(props: { readonly view: View; readonly isActive: boolean; readonly onFollow: () => void }) {
  const { t } = useTranslation();
  const { view, isActive, onFollow } = props;
  const hrefInside = useViewHref();
  const isOff = useLedgerIsOff() && view.needsLedger === true;
  return (
    <NavLink
      href={hrefInside(view.name)}
      label={t("title", { ns: view.texts })}
      leftSection={<Icon name={view.icon} size={18} />}
      {...(view.name === "calls" && { rightSection: <WaitingBadge /> })}
      {...(isOff && { description: t("navOff", { ns: "activity" }) })}
      active={isActive}
      aria-current={isActive ? "page" : undefined}
      onClick={onFollow}
    />
  );
}

/** The number of calls that wait, with words for screen readers. */
function WaitingBadge() {
  const { t } = useTranslation("calls");
  const waiting = useWaitingCount();
  if (waiting === 0) return null;
  return (
    <span>
      <span className="waiting-badge numbers">{waiting > WAITING_SHOWN_MAX ? `${WAITING_SHOWN_MAX}+` : waiting}</span>
      <VisuallyHidden>{t("navWaiting", { count: waiting })}</VisuallyHidden>
    </span>
  );
}
