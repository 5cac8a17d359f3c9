// A dialog, and the buttons at its end.
import { Box, Button, Group, Modal, useMatches } from "@mantine/core";
import {
  type ComponentProps,
  Fragment,
  type ReactNode,
  type SyntheticEvent,
  useCallback,
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
  if (isLost && opener instanceof HTMLElement) opener.focus({ preventScroll: true });
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
      closeOnEscape={!isSticky}
      closeButtonProps={{ "aria-label": t("close") }}
      styles={{ title: { fontWeight: 650, fontSize: "1.15rem", overflowWrap: "anywhere" } }}
    >
      <Box onChange={markAsFilled} onClick={markAsFilled} inert={!state.isOpen}>
        <Fragment key={state.opening}>{state.item !== undefined && props.children(state.item)}</Fragment>
      </Box>
    </Modal>
  );
}

/** The buttons at the end of every dialog that changes something. */
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
  return (
    <Group justify="flex-end" mt="xs">
      <Button variant="default" onClick={props.onCancel} data-autofocus={isDangerous || undefined}>
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
