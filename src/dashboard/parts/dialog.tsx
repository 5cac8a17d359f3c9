// A dialog, and the buttons at its end.
import { Box, Button, Group, Modal, useMatches } from "@mantine/core";
import {
  type ComponentProps,
  Fragment,
  type ReactNode,
  type SyntheticEvent,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { useTranslation } from "react-i18next";

/** What had the focus before a dialog opened; with several dialogs one after another, before the first. */
let opener: Element | null = null;

function noteOpener(): void {
  const { activeElement } = document;
  if (!activeElement?.closest("[role=dialog]")) opener = activeElement;
}

/** A dialog gives the focus back to what had it when it opened. After another dialog that is gone, and the focus with it. */
function giveFocusBack(): void {
  const isLost = document.activeElement === null || document.activeElement === document.body;
  if (isLost) focusOpener();
}

/** For a dialog that opens something else: what opens next gives the focus back to there. */
export function focusOpener(): void {
  if (opener instanceof HTMLElement) opener.focus({ preventScroll: true });
}

type Layer = { readonly close: () => void };

/** The open dialogs and drawers, the topmost last. */
const layers: Layer[] = [];
/** What takes Escape for itself: a popover in a dialog. */
const TAKES_ESCAPE = "[data-mantine-stop-propagation=true], .mantine-Popover-dropdown";

/** Escape closes what was opened last, and nothing below it; what must stay open has a `close` that does nothing. */
export function useEscape(isOpen: boolean, close: () => void): void {
  const latest = useRef(close);
  latest.current = close;
  useEffect(() => {
    if (!isOpen) return;
    if (layers.length === 0) addEventListener("keydown", closeTopmost, { capture: true });
    const layer = { close: () => latest.current() };
    layers.push(layer);
    return () => {
      layers.splice(layers.indexOf(layer), 1);
      if (layers.length === 0) removeEventListener("keydown", closeTopmost, { capture: true });
    };
  }, [isOpen]);
}

function closeTopmost(event: KeyboardEvent): void {
  if (event.key !== "Escape" || event.isComposing) return;
  if (event.target instanceof Element && event.target.closest(TAKES_ESCAPE)) return;
  layers.at(-1)?.close();
}

export type DialogState<T> = {
  readonly item: T | undefined;
  readonly isOpen: boolean;
  /** How often it was opened. */
  readonly opening: number;
  readonly open: (item: T) => void;
  readonly close: () => void;
};

/** The item stays set while a closed dialog fades out, so that its content does not jump. */
export function useDialog<T>(): DialogState<T> {
  const [state, setState] = useState<{ item: T | undefined; isOpen: boolean; opening: number }>({
    item: undefined,
    isOpen: false,
    opening: 0,
  });
  const open = useCallback((item: T) => {
    noteOpener();
    setState((old) => ({ item, isOpen: true, opening: old.opening + 1 }));
  }, []);
  const close = useCallback(() => setState((old) => ({ ...old, isOpen: false })), []);
  return { ...state, open, close };
}

/**
 * The children are mounted again each time the dialog opens. Once the user has entered something in a form, only the
 * buttons close the dialog. On a phone a large dialog fills the screen.
 */
export function Dialog<T>(props: {
  readonly state: DialogState<T>;
  readonly title: ReactNode;
  readonly isLarge?: boolean;
  /** Only the buttons close it, because its content cannot be shown again. */
  readonly isSticky?: boolean;
  readonly children: (item: T) => ReactNode;
}) {
  const { t } = useTranslation("shell");
  const { state, isLarge = false } = props;
  const [filledAt, setFilledAt] = useState<number>();
  const isSticky = props.isSticky || filledAt === state.opening;
  const markAsFilled = ({ type, target }: SyntheticEvent) => {
    const isEntry = target instanceof Element && target.closest(type === "click" ? "form button" : "form");
    if (isEntry) setFilledAt(state.opening);
  };
  const isPhone = useMatches({ base: true, sm: false });
  useEscape(state.isOpen, () => isSticky || state.close());
  return (
    <Modal
      opened={state.isOpen}
      onClose={state.close}
      // The dialog is removed from the page after this call.
      onExitTransitionEnd={() => setTimeout(giveFocusBack)}
      title={props.title}
      size={isLarge ? "xl" : "md"}
      fullScreen={isLarge && isPhone}
      closeOnClickOutside={!isSticky}
      closeOnEscape={false}
      closeButtonProps={{ "aria-label": t("close") }}
      styles={{ title: { fontWeight: 650, fontSize: "1.15rem", overflowWrap: "anywhere" } }}
    >
      <Box onChange={markAsFilled} onClick={markAsFilled} inert={!state.isOpen}>
        <Fragment key={state.opening}>{state.item !== undefined && props.children(state.item)}</Fragment>
      </Box>
    </Modal>
  );
}

/** The fields that can be filled, before the buttons. */
const FIELDS = ":is(input:not([type=checkbox], [type=radio]), textarea):not(:disabled, [readonly])";

/**
 * The buttons at the end of every dialog that changes something. A dangerous dialog begins at its first field, or else at the
 * button that changes nothing.
 */
export function DialogButtons(props: {
  readonly label: string;
  /** The text of the button that changes nothing; "Cancel" by default. */
  readonly cancelLabel?: string | undefined;
  readonly onCancel: () => void;
  readonly isRunning?: boolean;
  readonly isDangerous?: boolean;
  readonly isDisabled?: boolean;
  /** Without it, the button submits the surrounding form. */
  readonly onConfirm?: () => void;
}) {
  const { t } = useTranslation("shell");
  const { isDangerous = false, isRunning = false, isDisabled = false, onConfirm } = props;
  const cancel = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    const dialog = cancel.current?.closest("[role=dialog]");
    if (!isDangerous || !dialog || dialog.querySelector("[data-autofocus]")) return;
    const first = dialog.querySelector(FIELDS) ?? cancel.current;
    first?.setAttribute("data-autofocus", "true");
  }, [isDangerous]);
  return (
    <Group justify="flex-end" mt="xs">
      <Button ref={cancel} variant="default" onClick={props.onCancel}>
        {props.cancelLabel ?? t("cancel")}
      </Button>
      <Button
        type={onConfirm ? "button" : "submit"}
        {...(isDangerous && { color: "red" })}
        loading={isRunning}
        disabled={isDisabled}
        {...(onConfirm && { onClick: onConfirm })}
        // Mantine disables a loading button; the focus would then leave the dialog.
        renderRoot={(given: ComponentProps<"button">) => (
          <button {...given} disabled={isDisabled} aria-disabled={isRunning || undefined} />
        )}
      >
        {props.label}
      </Button>
    </Group>
  );
}
