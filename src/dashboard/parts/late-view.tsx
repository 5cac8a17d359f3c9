// A view whose code is loaded when it is first shown. Unlike React's `lazy` it does not keep a failure: it loads the
// code again when the reader tries again or comes back.
import { Button } from "@mantine/core";
import { type ComponentType, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { LoadingState, Notice } from "./states.tsx";

export function lateView(load: () => Promise<ComponentType>): ComponentType {
  let Loaded: ComponentType | undefined;
  return function LateView() {
    const { t } = useTranslation("shell");
    const [state, setState] = useState<"loading" | "loaded" | "missing">(Loaded ? "loaded" : "loading");
    useEffect(() => {
      if (state !== "loading") return;
      load().then(
        (View) => {
          Loaded = View;
          setState("loaded");
        },
        () => setState("missing"),
      );
    }, [state]);
    if (Loaded) return <Loaded />;
    if (state === "loading") return <LoadingState />;
    return (
      <Notice
        icon="warning"
        title={t("missing")}
        action={
          <Button variant="light" onClick={() => setState("loading")}>
            {t("tryAgain")}
          </Button>
        }
      >
        {t("missingText")}
      </Notice>
    );
  };
}
