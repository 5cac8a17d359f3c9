// The operator's view "commands".
import { Button, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { EmptyState, FailedState, LoadingState } from "../../parts/states.tsx";
import { ViewPage } from "../../parts/view-page.tsx";
import { useAdmin, usePagedList } from "../../state/use-admin.ts";

export function CommandsView() {
  const { t } = useTranslation(["operatorCommands", "shell"]);
  const admin = useAdmin();
  const list = usePagedList(["commands"], admin.listCommands);
  return (
    <ViewPage title={t("operatorCommands:title")} summary={t("operatorCommands:summary")}>
      {list.isLoading && <LoadingState />}
      {list.error && <FailedState error={list.error} onRetry={list.refresh} />}
      {!list.isLoading && !list.error && list.items.length === 0 && <EmptyState />}
      {list.items.length > 0 && <Text className="numbers">{list.items.length}</Text>}
      {list.hasMore && (
        <Button variant="light" onClick={list.loadMore} loading={list.isLoadingMore}>
          {t("shell:loadMore")}
        </Button>
      )}
    </ViewPage>
  );
}
