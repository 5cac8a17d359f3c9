// Dialogs: one that holds anything, and one that asks before something is done that cannot be undone.
import { Box, Button, Group, Modal, Stack, useMatches } from "@mantine/core";
import {
  type ComponentProps,
  Fragment,
  type ReactNode,
  type SyntheticEvent,
  useCallback,
  useRef,
  useState,
} from "react";
import { useTranslation } from "react-i18next";

export type DialogState<T> = {
  readonly item: T | undefined;
  readonly isOpen: boolean;
  /** How often it was opened. */
  readonly opening: number;
  readonly open: (item: T) => void;
  readonly close: () => void;
};

/** What a dialog is about stays while it fades away, so that nothing jumps. */
export function useDialog<T>(): DialogState<T> {
  const [state, setState] = useState<{ item: T | undefined; isOpen: boolean; opening: number }>({
    item: undefined,
    isOpen: false,
    opening: 0,
  });
  const open = useCallback(
    (item: T) => setState((old) => ({ item, isOpen: true, opening: old.opening + 1 })),
    [],
  );
  const close = useCallback(() => setState((old) => ({ ...old, isOpen: false })), []);
  return { ...state, open, close };
}

/**
 * Its children are made anew each time it opens, and once something was entered in a form of theirs, it closes by its
 * buttons only. On a phone a large one fills the screen.
 */
export function Dialog<T>(props: {
  readonly state: DialogState<T>;
  readonly title: ReactNode;
  readonly isLarge?: boolean;
  /** It closes by its buttons only, because what it shows is gone with it. */
  readonly isSticky?: boolean;
  readonly children: (item: T) => ReactNode;
}) {
  const { t } = useTranslation("shell");
  const { state, isLarge = false } = props;
  const [filledAt, setFilledAt] = useState<number>();
  const isSticky = props.isSticky || filledAt === state.opening;
  const note = ({ type, target }: SyntheticEvent) => {
    const isEntry = target instanceof Element && target.closest(type === "click" ? "form button" : "form");
    if (isEntry) setFilledAt(state.opening);
  };
  const isPhone = useMatches({ base: true, sm: false });
  return (
    <Modal
      opened={state.isOpen}
      onClose={state.close}
      title={props.title}
      size={isLarge ? "xl" : "md"}
      fullScreen={isLarge && isPhone}
      closeOnClickOutside={!isSticky}
      closeOnEscape={!isSticky}
      closeButtonProps={{ "aria-label": t("close") }}
      styles={{ title: { fontWeight: 650, fontSize: "1.15rem", overflowWrap: "anywhere" } }}
    >
      <Box onChange={note} onClick={note} inert={!state.isOpen}>
        <Fragment key={state.opening}>{state.item !== undefined && props.children(state.item)}</Fragment>
      </Box>
    </Modal>
  );
}

/** What stands at the end of every dialog that does something. */
export function DialogButtons(props: {
  readonly label: string;
  readonly onCancel: () => void;
  readonly isRunning?: boolean;
  readonly isDangerous?: boolean;
  readonly isDisabled?: boolean;
  /** Without it, the button submits the form around it. */
  readonly onConfirm?: () => void;
}) {
  const { t } = useTranslation("shell");
  const { isDangerous = false, isRunning = false, isDisabled = false, onConfirm } = props;
  return (
    <Group justify="flex-end" mt="xs">
      <Button variant="default" onClick={props.onCancel} data-autofocus={isDangerous || undefined}>
        {t("cancel")}
      </Button>
      <Button
        type={onConfirm ? "button" : "submit"}
        {...(isDangerous && { color: "red" })}
        loading={isRunning}
        disabled={isDisabled}
        {...(onConfirm && { onClick: onConfirm })}
        // Mantine switches a button off while it loads, and the focus would fall out of the dialog.
        renderRoot={(given: ComponentProps<"button">) => (
          <button {...given} disabled={isDisabled} aria-disabled={isRunning || undefined} />
        )}
      >
        {props.label}
      </Button>
    </Group>
  );
}

export function ConfirmDialog<T>(props: {
  readonly state: DialogState<T>;
  readonly title: string;
  readonly label: string;
  readonly onConfirm: (item: T) => void;
  readonly children: (item: T) => ReactNode;
}) {
  const { state } = props;
  const confirmedAt = useRef<number>(undefined);
  return (
    <Dialog state={state} title={props.title}>
      {(item) => (
        <Stack gap="sm">
          {props.children(item)}
          <DialogButtons
            label={props.label}
            isDangerous
            onCancel={state.close}
            onConfirm={() => {
              // The second of two quick taps comes before the first has closed anything.
              if (confirmedAt.current === state.opening) return;
              confirmedAt.current = state.opening;
              state.close();
              props.onConfirm(item);
            }}
          />
        </Stack>
      )}
    </Dialog>
  );
}
