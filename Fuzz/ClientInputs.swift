import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The readers of a server's answers in a client.
enum ClientInputs {
    private static let now = Date(timeIntervalSince1970: 1_735_689_600)
    private static let addresses = [
        "https://am.example.test/am/json", "http://127.0.0.1:8080/am", "https://am.example.test:8443/",
    ]

    /// Reads `Set-Cookie` fields, one a line.
    ///
    /// What is sent back fits in one header field. A tab is the only control character in it (RFC 6265bis section 5.6).
    static func readCookies(_ bytes: [UInt8]) {
        var jar = CookieJar()
        for (number, line) in String(decoding: bytes, as: UTF8.self).split(separator: "\n").enumerated() {
            jar.set(String(line), from: addresses[number % addresses.count], now: now)
        }
        for address in addresses {
            guard let header = jar.header(for: address, now: now) else { continue }
            precondition(
                header.utf8.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }, "a header field with a control character")
        }
    }

    /// Reads server-sent events, in one piece and byte by byte: the events are the same.
    static func readEvents(_ bytes: [UInt8]) {
        var (whole, single) = (ServerSentEvent.Parser(maxEventSize: 4096), ServerSentEvent.Parser(maxEventSize: 4096))
        let events = try? whole.feed(bytes)
        var found: [ServerSentEvent]? = []
        for byte in bytes {
            guard let more = try? single.feed([byte]) else {
                found = nil
                break
            }
            found?.append(contentsOf: more)
        }
        precondition(events == found, "the events depend on the pieces of the stream")
    }

    /// Reads a step of a journey, which can then be written, and is the same.
    static func readStep(_ bytes: [UInt8]) {
        guard let step = try? JSON.decode(JourneyStep.self, from: bytes) else { return }
        _ = (step.waitMilliseconds, step.pageStage, step.hiddenValue("mfaDeviceRegistration"))
        var answered = step
        for index in answered.callbacks.indices { answered.callbacks[index].answer(.string("x")) }
        _ = try? JSON.encode(answered)
        let again = (try? JSON.encode(step)).flatMap { try? JSON.decode(JourneyStep.self, from: $0) }
        precondition(again == step, "a step that was read and written is another one")
    }
}
