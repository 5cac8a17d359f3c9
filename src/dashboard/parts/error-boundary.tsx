// Shows a notice instead of a view that has thrown; the rest of the page keeps working.
import { Button } from "@mantine/core";
import { Component, type ReactNode } from "react";
import { Translation } from "react-i18next";
import { Notice } from "./states.tsx";

export class ErrorBoundary extends Component<
  { readonly children: ReactNode },
  { readonly hasFailed: boolean }
> {
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
