#if os(Linux)
import SignetCore
import SignetDesktop
import TestSupport

extension ScriptedService {
    /// Starts a notification server that shows nothing, and numbers the notifications from 1.
    static func notificationServer(_ bus: MessageBus) async throws -> ScriptedService {
        let last = Mutex<UInt32>(0)
        return try await start(bus, "org.freedesktop.Notifications") { call in
            switch call.member ?? "" {
            case "GetCapabilities": return call.reply([.strings(["actions", "body"])])
            case "GetServerInformation": return call.reply(Array(repeating: .string("1"), count: 4))
            case "Notify":
                let number = last.withLock { last in
                    last += 1
                    return last
                }
                return call.reply([.uint32(number)])
            case "CloseNotification": return call.reply()
            default: return call.unknownMethod
            }
        }
    }
}
#endif
