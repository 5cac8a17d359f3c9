// Dialogs: one that holds anything, and one that asks before something is done that cannot be undone.
import { Button, Group, Modal, Stack, useMatches } from "@mantine/core";
import { type ReactNode, useCallback, useState } from "react";
import { useTranslation } from "react-i18next";

export type DialogState<T> = {
  readonly item: T | undefined;
  readonly isOpen: boolean;
  readonly open: (item: T) => void;
  readonly close: () => void;
};

/** What a dialog is about stays while it fades away, so that nothing jumps. */
export function useDialog<T>(): DialogState<T> {
  const [state, setState] = useState<{ item: T | undefined; isOpen: boolean }>({
    item: undefined,
    isOpen: false,
  });
  const open = useCallback((item: T) => setState({ item, isOpen: true }), []);
  const close = useCallback(() => setState((old) => ({ ...old, isOpen: false })), []);
  return { ...state, open, close };
}

/** Its children are made anew each time it opens. On a phone a large one fills the screen. */
export function Dialog<T>(props: {
  readonly state: DialogState<T>;
  readonly title: string;
  readonly isLarge?: boolean;
  /** It does not close by a click beside it, when what it shows is gone with it. */
  readonly isSticky?: boolean;
  readonly children: (item: T) => ReactNode;
}) {
  const { t } = useTranslation("shell");
  const { state, isLarge = false, isSticky = false } = props;
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
      {state.item !== undefined && props.children(state.item)}
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
  const { isDangerous = false, onConfirm } = props;
  return (
    <Group justify="flex-end" mt="xs">
      <Button variant="default" onClick={props.onCancel} data-autofocus={isDangerous || undefined}>
        {t("cancel")}
      </Button>
      <Button
        type={onConfirm ? "button" : "submit"}
        {...(isDangerous && { color: "red" })}
        loading={props.isRunning ?? false}
        disabled={props.isDisabled ?? false}
        {...(onConfirm && { onClick: onConfirm })}
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
              state.close();
              props.onConfirm(item);
            }}
          />
        </Stack>
      )}
    </Dialog>
  );
}
