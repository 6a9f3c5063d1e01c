public import SignetCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension HTTPResponse {
    /// The server's time from the `Date` field (RFC 9110 section 6.6.1), if the response has one.
    public var date: Date? { headers["Date"].flatMap { HTTPDate.date(from: $0) } }

    /// Returns the time that the server asks the client to wait before the next request (`Retry-After`, RFC 9110 section 10.2.3),
    /// if the response has that field.
    ///
    /// It is never negative and at most a day. A date in it is compared with the server's own time, or with `now` if the response
    /// has no `Date`.
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
    /// Stores the cookies of a response.
    ///
    /// Ignores them if the status is outside 200 to 302, as the ForgeRock SDKs do (protocol/journey.md section 3.4).
    /// - Parameters:
    ///   - response: The response of the server.
    ///   - request: The request that the server answered.
    ///   - now: The current time.
    public mutating func take(_ response: HTTPResponse, to request: HTTPRequest, now: Date) {
        guard (200...302).contains(response.status) else { return }
        for line in response.headers.all("Set-Cookie") { set(line, from: request.url, now: now) }
    }
}
