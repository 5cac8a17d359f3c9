// The frame around every view: header, navigation (a menu behind a burger on a phone), status bar, and the view itself.
import { AppShell, Box, Burger, Button, Group, NavLink, ScrollArea, VisuallyHidden } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { type ReactNode, type RefObject, useContext, useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import { KeyboardButton } from "./keyboard/keyboard-button.tsx";
import { AlertsButton } from "./parts/alerts-button.tsx";
import { ErrorBoundary } from "./parts/error-boundary.tsx";
import { cutText, markInvisible } from "./parts/game-text.tsx";
import { Icon } from "./parts/icon.tsx";
import { LazyView } from "./parts/lazy-view.tsx";
import { PageSwitches } from "./parts/page-switches.tsx";
import { PlayerDrawer } from "./parts/player-drawer.tsx";
import { ServerSwitcher } from "./parts/server-switcher.tsx";
import { Notice } from "./parts/states.tsx";
import { StatusBar } from "./parts/status-bar.tsx";
import { RouteBaseContext, useRoute, useViewHref } from "./state/route.ts";
import { useSession } from "./state/session.ts";
import { useKeyRing } from "./state/use-key-ring.ts";
import { useLedgerIsOff } from "./state/use-ledger.ts";
import { ModCallsProvider, useWaitingCount } from "./state/use-mod-calls.tsx";
import { listViews, type View } from "./view-list.ts";

const MAIN_ID = "content";
const NAME_MAX = 200;
const WAITING_SHOWN_MAX = 99;

type FrameBodyProps = {
  /** The name of the server; undefined for operators, and until the first answer. */
  readonly name: string | undefined;
  /** Whether no view was shown before this frame. */
  readonly isFirst: RefObject<boolean>;
  /** Above every view, beside the status bar. */
  readonly banner?: ReactNode;
  /** Instead of the view. */
  readonly children?: ReactNode;
};

export function FrameBody(props: FrameBodyProps) {
  const { session } = useSession();
  if (session.kind === "operator") return <FrameContent {...props} />;
  return (
    <ModCallsProvider>
      <FrameContent {...props} />
    </ModCallsProvider>
  );
}

function FrameContent(props: FrameBodyProps) {
  const { name, isFirst } = props;
  const { session, signOut } = useSession();
  const { t } = useTranslation(["shell", "calls"]);
  const [isOpen, { toggle, close }] = useDisclosure(false);
  const { ring } = useKeyRing();
  const views = listViews(session, ring.keys.length > 1);
  const route = useRoute();
  const base = useContext(RouteBaseContext);
  const current = route === base ? views[0] : views.find((view) => isRouteOf(view, base, route));
  const main = useRef<HTMLDivElement>(null);
  const heading = session.kind === "operator" ? t("operator") : cutText(name ?? t("product"), NAME_MAX).text;
  const plainHeading = markInvisible(heading);
  const alerts = session.kind === "caller" && <AlertsButton sections={session.sections} />;
  const viewTitle = current ? t("title", { ns: current.texts }) : t("notFound");
  const waiting = useWaitingCount();
  const waitingText = waiting > 0 ? t("calls:waitingCount", { count: waiting }) : "";

  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${viewTitle} · ${plainHeading}`;
  }, [viewTitle, plainHeading, waiting]);

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
      header={{ height: 60 }}
      navbar={{ width: 220, breakpoint: "sm", collapsed: { mobile: !isOpen } }}
      padding="md"
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
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap" gap="xs">
          <Group gap="sm" wrap="nowrap" miw={0}>
            <Box pos="relative" hiddenFrom="sm">
              <Burger
                opened={isOpen}
                onClick={toggle}
                size="sm"
                aria-label={[t(isOpen ? "closeNavigation" : "openNavigation"), waitingText]
                  .filter(Boolean)
                  .join(", ")}
                aria-expanded={isOpen}
              />
              <span aria-hidden hidden={isOpen}>
                <WaitingBadge className="on-burger" />
              </span>
            </Box>
            <Icon name="gate" size={26} />
            <ServerSwitcher heading={heading} />
          </Group>
          <Group gap="xs" wrap="nowrap" visibleFrom="sm" flex="none">
            {alerts}
            <KeyboardButton views={views} />
            <PageSwitches />
            <SignOutButton onClick={() => signOut()} />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" aria-label={t("navigation")} data-open={isOpen || undefined}>
        <AppShell.Section grow component={ScrollArea} type="auto">
          {views.map((view) => (
            <ViewLink key={view.name} view={view} isActive={view === current} onFollow={close} />
          ))}
        </AppShell.Section>
        <AppShell.Section hiddenFrom="sm" pt="sm">
          <Group justify="space-between" gap="xs">
            <Group gap="xs" wrap="nowrap">
              {alerts}
              <PageSwitches />
            </Group>
            <SignOutButton onClick={() => signOut()} />
          </Group>
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main ref={main} id={MAIN_ID} tabIndex={-1} className="view">
        <VisuallyHidden aria-live="polite">{waitingText}</VisuallyHidden>
        {session.kind !== "operator" && (
          <Group justify={props.banner ? "space-between" : "flex-end"} mb="sm">
            {props.banner}
            <StatusBar />
          </Group>
        )}
        <ErrorBoundary key={route}>
          {props.children ||
            (current ? <LazyView load={current.load} /> : <Notice icon="search" title={t("notFound")} />)}
        </ErrorBoundary>
      </AppShell.Main>
      {session.kind !== "operator" && <PlayerDrawer />}
    </AppShell>
  );
}

function isRouteOf({ name, takesId = false }: View, base: string, route: string): boolean {
  return route === base + name || (takesId && route.startsWith(`${base}${name}/`));
}

function ViewLink(props: { readonly view: View; readonly isActive: boolean; readonly onFollow: () => void }) {
  const { t } = useTranslation(["shell", "calls"]);
  const { view, isActive, onFollow } = props;
  const hrefOf = useViewHref();
  const isOff = useLedgerIsOff() && view.needsLedger === true;
  const count = useWaitingCount();
  const waiting = view.name === "calls" ? count : 0;
  return (
    <NavLink
      href={hrefOf(view.name)}
      label={t("title", { ns: view.texts })}
      leftSection={<Icon name={view.icon} size={18} />}
      {...(waiting > 0 && {
        rightSection: (
          <span>
            <WaitingBadge />
            <VisuallyHidden>{t("calls:navWaiting", { count: waiting })}</VisuallyHidden>
          </span>
        ),
      })}
      {...(isOff && { description: t("navOff", { ns: "activity" }) })}
      active={isActive}
      aria-current={isActive ? "page" : undefined}
      onClick={onFollow}
    />
  );
}

/** The number of calls that wait; words for screen readers are beside it. */
function WaitingBadge({ className = "" }: { readonly className?: string }) {
  const waiting = useWaitingCount();
  if (waiting === 0) return null;
  return (
    <span className={`waiting-badge numbers ${className}`}>
      {waiting > WAITING_SHOWN_MAX ? `${WAITING_SHOWN_MAX}+` : waiting}
    </span>
  );
}

function SignOutButton({ onClick }: { readonly onClick: () => void }) {
  const { t } = useTranslation();
  return (
    <Button variant="default" leftSection={<Icon name="leave" size={16} />} onClick={onClick}>
      {t("signOut")}
    </Button>
  );
}
