export { type ProviderServer, startProviderServer } from "./provider-server.js";
export type {
  ProviderApi,
  ProviderReply,
  ProviderRequest,
  ProviderScript,
  ScriptedToolCall,
} from "./reply.js";
