// The operator's view "audit".
import { Button, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { EmptyState, FailedState, LoadingState } from "../../parts/states.tsx";
import { ViewPage } from "../../parts/view-page.tsx";
import { useAdmin, usePagedList } from "../../state/use-admin.ts";

export function AuditView() {
  const { t } = useTranslation(["operatorAudit", "shell"]);
  const admin = useAdmin();
  const list = usePagedList(["audit"], admin.listAudit);
  return (
    <ViewPage title={t("operatorAudit:title")} summary={t("operatorAudit:summary")}>
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
