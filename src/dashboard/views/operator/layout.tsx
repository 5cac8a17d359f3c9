// What the operator's pages are made of: sections, hints, small buttons, and the message that a change has succeeded.
import { ActionIcon, Alert, Button, type ButtonProps, Menu, Stack, Text, type TextProps, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Icon } from "../../parts/icon.tsx";

/** A part of a page, or with `isInDialog` of a dialog, under its title. */
export function Section(props: {
  readonly title: string;
  readonly isInDialog?: boolean;
  readonly children: ReactNode;
}) {
  return (
    <Stack gap="sm" component="section" aria-label={props.title}>
      <Title order={props.isInDialog ? 3 : 2} size={props.isInDialog ? "h5" : "h4"}>
        {props.title}
      </Title>
      {props.children}
    </Stack>
  );
}

/** Less important text. */
export function Hint(
  props: TextProps & { readonly role?: "status"; readonly "aria-hidden"?: true; readonly children: ReactNode },
) {
  return <Text size="sm" c="dimmed" {...props} />;
}

/** Shows, and tells screen readers, that a change has succeeded; nothing when the text is undefined. */
export function SuccessMessage({ text, onClose }: { readonly text: ReactNode; readonly onClose: () => void }) {
  const { t } = useTranslation("shell");
  return (
    <div role="status" className="announcer">
      {text !== undefined && (
        <Alert
          color="teal"
          icon={<Icon name="check" />}
          withCloseButton
          closeButtonLabel={t("close")}
          onClose={onClose}
          className="untrusted"
        >
          {text}
        </Alert>
      )}
    </div>
  );
}

/** A small button beside a resource. `name` is for screen readers, where the text alone is not enough. */
export function SmallButton({
  text,
  name,
  ...button
}: ButtonProps & {
  readonly text: string;
  readonly name?: string;
  readonly href?: string;
  readonly onClick?: () => void;
  readonly "aria-disabled"?: true | undefined;
}) {
  return (
    <Button
      size="xs"
      variant={button.color === "red" ? "outline" : "light"}
      aria-label={name}
      {...(button.href !== undefined && { component: "a" })}
      {...button}
    >
      {text}
    </Button>
  );
}

/** What is done more rarely with a resource. `name` is for screen readers. */
export function MoreMenu({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <Menu position="bottom-end" withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <ActionIcon size={26} aria-label={name}>
          <Icon name="more" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  );
}

/** The width of a column with one small button and a menu. */
export function widthOfButtons(text: string): string {
  return `${5 + 0.6 * text.length}rem`;
}
