public import SignetCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension HTTPResponse {
    /// The server's time, if it says it (`Date`, RFC 9110 section 6.6.1).
    public var date: Date? { headers["Date"].flatMap { HTTPDate.date(from: $0) } }

    /// How long the server asks to wait before the next request (`Retry-After`, RFC 9110 section 10.2.3), if it does: never
    /// negative, and never more than a day. A date is compared with the server's own time, or with `now` if it tells none.
    public func retryAfter(now: Date) -> Duration? {
        guard let text = headers["Retry-After"]?.trimmingWhitespace(), !text.isEmpty else { return nil }
        let seconds: Double
        if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            seconds = Double(text) ?? .infinity
        } else if let end = HTTPDate.date(from: text) {
            seconds = end.timeIntervalSince(date ?? now)
        } else {
            return nil
        }
        return .seconds(min(max(0, seconds), 86_400))
    }
}

extension CookieJar {
    /// Takes the cookies of a response. Those of one that is no success (200 to 302) are not taken, as the existing SDKs have it
    /// (protocol/journey.md section 3.4).
    /// - Parameters:
    ///   - response: What the server answered.
    ///   - request: What was answered.
    ///   - now: The present moment.
    public mutating func take(_ response: HTTPResponse, to request: HTTPRequest, now: Date) {
        guard (200...302).contains(response.status) else { return }
        for line in response.headers.all("Set-Cookie") { set(line, from: request.url, now: now) }
    }
}
