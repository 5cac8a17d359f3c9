// Makes the keys of the page work, shows them in a dialog, and opens the box that finds everything.
import { Kbd, Modal, Stack, Switch } from "@mantine/core";
import { type ReactNode, useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import { Dialog, type DialogState, useEscape } from "../../parts/dialog.tsx";
import { LazyView } from "../../parts/lazy-view.tsx";
import { Heading, Note } from "../../parts/text/plain-text.tsx";
import { useViewHref } from "../../state/route.ts";
import { StoredSetting, useStoredSetting } from "../../state/stored-setting.ts";
import type { View } from "../view-list.ts";
import {
  areKeysTaken,
  FIND_KEY,
  GO_KEY,
  HELP_KEY,
  isFindChord,
  type KeyAction,
  readKeyPress,
  SEARCH_KEY,
  VIEW_LETTERS,
} from "./key-table.ts";

const loadPalette = async () => (await import("../boxes.ts")).Palette;

export function Keyboard(props: {
  readonly views: readonly View[];
  readonly help: DialogState<true>;
  readonly palette: DialogState<true>;
}) {
  const { t } = useTranslation(["keyboard", "palette"]);
  const { views, help, palette } = props;
  const hrefOf = useViewHref();
  useKeys(
    useKeysOn(),
    views.map(({ name }) => name),
    (action) => {
      if (action.kind === "search") palette.open(true);
      else if (action.kind === "help") help.open(true);
      else location.hash = hrefOf(action.name);
    },
  );
  useEscape(palette.isOpen, palette.close);
  return (
    <>
      <Dialog state={help} title={t("title")}>
        {() => <KeyList views={views} />}
      </Dialog>
      <Modal.Root
        opened={palette.isOpen}
        onClose={palette.close}
        closeOnEscape={false}
        centered={false}
        padding={0}
        yOffset="10dvh"
        transitionProps={{ duration: 0 }}
      >
        <Modal.Overlay />
        <Modal.Content aria-label={t("palette:title")}>
          <Modal.Body>
            <LazyView key={palette.opening} load={loadPalette} given={{ views, onClose: palette.close }} />
          </Modal.Body>
        </Modal.Content>
      </Modal.Root>
    </>
  );
}

export function KeyList({ views }: { readonly views: readonly View[] }) {
  const { t } = useTranslation("keyboard");
  const isOn = useKeysOn();
  return (
    <Stack gap="md">
      <Switch
        label={t("on")}
        description={t("onHint")}
        checked={isOn}
        onChange={(event) => switchKeys(event.currentTarget.checked)}
      />
      <dl className="key-list">
        <KeyFact keys={[SEARCH_KEY]}>{t("search")}</KeyFact>
        <KeyFact keys={["Ctrl", FIND_KEY.toUpperCase()]}>{t("find")}</KeyFact>
        <KeyFact keys={[HELP_KEY]}>{t("help")}</KeyFact>
        <KeyFact keys={["Esc"]}>{t("close")}</KeyFact>
      </dl>
      <Heading order={3}>{t("views")}</Heading>
      <dl className="key-list">
        {views.map(({ name, texts }) => {
          const letter = VIEW_LETTERS[name];
          if (letter === undefined) return null;
          return (
            <KeyFact key={name} keys={[GO_KEY, letter]}>
              {t("title", { ns: texts })}
            </KeyFact>
          );
        })}
      </dl>
      <Note>{t("hint")}</Note>
    </Stack>
  );
}

function KeyFact({ keys, children }: { readonly keys: readonly string[]; readonly children: ReactNode }) {
  return (
    <>
      <dt>
        {keys.map((key, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a sequence may have a key twice
          <Kbd key={index}>{key}</Kbd>
        ))}
      </dt>
      <dd>{children}</dd>
    </>
  );
}

const OPEN_DIALOGS = "[role=dialog], [role=alertdialog]";
/** The box opens over a player's drawer, and not over a form. */
const MODAL_DIALOGS = "[role=dialog]:not(.player-drawer)";

/** `views` are the names of the views that the session has. */
export function useKeys(isOn: boolean, views: readonly string[], onAction: (action: KeyAction) => void): void {
  const latest = useRef({ views, onAction });
  latest.current = { views, onAction };
  useEffect(() => {
    let wentAt: number | undefined;
    const read = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.repeat || event.isComposing) return;
      if (isFindChord(event)) {
        event.preventDefault();
        if (!document.querySelector(MODAL_DIALOGS)) latest.current.onAction({ kind: "search" });
        return;
      }
      if (!isOn) return;
      const target = event.target instanceof Element ? event.target : null;
      if (areKeysTaken(target, document.querySelector(OPEN_DIALOGS) !== null)) return;
      // Shift alone comes before the letter that it changes.
      if (event.key === "Shift") return;
      const reading = readKeyPress(event, latest.current.views, event.timeStamp, wentAt);
      wentAt = reading.wentAt;
      if (!reading.action) return;
      // Some browsers would open their own search.
      event.preventDefault();
      latest.current.onAction(reading.action);
    };
    addEventListener("keydown", read);
    return () => removeEventListener("keydown", read);
  }, [isOn]);
}

const OFF = "off";

const setting = new StoredSetting<boolean>({
  name: "gatehouse.keyboard",
  parse: (text) => text !== OFF,
  write: (isOn) => (isOn ? undefined : OFF),
});

export function useKeysOn(): boolean {
  return useStoredSetting(setting);
}

export function switchKeys(isOn: boolean): void {
  setting.change(() => isOn);
}
