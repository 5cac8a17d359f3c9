// The name in the header: a button that opens the list of servers to switch to. What the list needs is loaded when it is opened.
import { Text, UnstyledButton, VisuallyHidden } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { CloseSwitcherContext } from "./close-switcher.ts";
import { Dialog, useDialog } from "./dialog.tsx";
import { MarkedText, markInvisible } from "./game-text.tsx";
import { Icon } from "./icon.tsx";
import { LazyView } from "./lazy-view.tsx";

const loadChoice = async () => (await import("./server-choice.tsx")).ServerChoice;

export function ServerSwitcher({ heading }: { readonly heading: string }) {
  const { t } = useTranslation("fleet");
  const dialog = useDialog<true>();
  const plain = markInvisible(heading);
  return (
    <>
      <UnstyledButton
        className="server-switcher"
        onClick={() => dialog.open(true)}
        aria-haspopup="dialog"
        title={plain}
      >
        <Text fw={650} truncate className="untrusted" component="span">
          <MarkedText text={heading} />
        </Text>
        <VisuallyHidden>{t("switchHint")}</VisuallyHidden>
        <Icon name="switch" size={16} />
      </UnstyledButton>
      <Dialog state={dialog} title={t("switch")}>
        {() => (
          <CloseSwitcherContext value={dialog.close}>
            <LazyView load={loadChoice} />
          </CloseSwitcherContext>
        )}
      </Dialog>
    </>
  );
}
