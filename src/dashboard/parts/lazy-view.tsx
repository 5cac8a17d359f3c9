// Shows a view whose code is loaded when the view is first opened. Unlike React's `lazy` it does not remember a failure:
// it loads the code again when the user clicks "Try again" or comes back to the view.
import { Button } from "@mantine/core";
import { type ComponentType, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { LoadingState, Notice } from "./states.tsx";

export type LoadView = () => Promise<ComponentType>;

const loadedViews = new Map<LoadView, ComponentType>();

export function LazyView({ load }: { readonly load: LoadView }) {
  const { t } = useTranslation("shell");
  const View = loadedViews.get(load);
  const [state, setState] = useState<"loading" | "loaded" | "failed">(View ? "loaded" : "loading");
  useEffect(() => {
    if (state !== "loading") return;
    load().then(
      (Loaded) => {
        loadedViews.set(load, Loaded);
        setState("loaded");
      },
      () => setState("failed"),
    );
  }, [state, load]);
  if (View) return <View />;
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
}
