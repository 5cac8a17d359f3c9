// Shows a view whose code is loaded when the view is first opened. Unlike React's `lazy` it does not remember a failure:
// it loads the code again when the user clicks "Try again" or comes back to the view.
import { Button } from "@mantine/core";
import { Component, type ComponentType, type ReactNode, useEffect, useState } from "react";
import { Translation, useTranslation } from "react-i18next";
import { LoadingState, Notice } from "./states.tsx";

export type LoadView<P = object> = () => Promise<ComponentType<P>>;

// biome-ignore lint/suspicious/noExplicitAny: each view is found by the function that has loaded it, with the same properties
const loadedViews = new Map<LoadView<any>, ComponentType<any>>();

export function LazyView<P extends object>(props: {
  readonly load: LoadView<P>;
  /** What the view gets; nothing by default. */
  readonly given?: P;
  /** Shown instead of the view until it is loaded, also after a failure. For small parts of a view. */
  readonly placeholder?: ReactNode;
}) {
  const { t } = useTranslation("shell");
  const { load, given, placeholder } = props;
  const View: ComponentType<P> | undefined = loadedViews.get(load);
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
  if (View) return <View {...(given as P)} />;
  if (placeholder !== undefined) return placeholder;
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

export class ErrorBoundary extends Component<{ readonly children: ReactNode }, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override render() {
    if (!this.state.hasFailed) return this.props.children;
    return (
      <Translation ns="shell">
        {(t) => (
          <Notice
            icon="warning"
            title={t("broken")}
            action={
              <Button variant="light" onClick={() => this.setState({ hasFailed: false })}>
                {t("tryAgain")}
              </Button>
            }
          />
        )}
      </Translation>
    );
  }
}
