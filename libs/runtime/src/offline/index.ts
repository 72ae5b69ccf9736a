export { textOf } from "./conversation.js";
export { type OfflineCallOptions, OfflineChatModel, type OfflineChatModelFields } from "./model.js";
export { extractReceipt, type Receipt } from "./receipts/extract.js";
export {
  type OfflineAnswer,
  type OfflineRules,
  type OfflineTool,
  offlineRules,
  registerOfflineRules,
} from "./rules.js";
