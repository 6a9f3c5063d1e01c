#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The cookies of one client, as a value: what a server sets, and what goes back to it, by the rules of RFC 6265 section 5.
///
/// A jar keeps no clock and opens no file. It is Codable, so that any storage can hold it.
public struct CookieJar: Sendable, Hashable, Codable {
    /// What is kept, oldest first.
    public private(set) var cookies: [Cookie]

    /// The most that are kept; the oldest go first (section 6.1 asks for 50 a domain at least).
    static let most = 300

    /// A jar with these cookies.
    public init(_ cookies: [Cookie] = []) {
        self.cookies = cookies
    }

    /// Takes what a `Set-Cookie` header says (section 5.3). A cookie for a host that the sender does not belong to, and what is
    /// no cookie, is passed over; one that has ended removes what is kept under its name, domain and path.
    /// - Parameters:
    ///   - header: What the server sent.
    ///   - url: Where the request went.
    ///   - now: The present moment.
    public mutating func set(_ header: String, from url: String, now: Date) {
        guard let line = SetCookie(header), let place = CookiePlace(url),
            let cookie = Self.cookie(line, from: place, now: now)
        else { return }
        let old = cookies.firstIndex { $0.identity == cookie.identity }
        let created = old.map { cookies[$0].created }
        if let old { cookies.remove(at: old) }
        guard !cookie.isExpired(at: now) else { return }
        cookies.append(created.map { cookie.created(at: $0) } ?? cookie)
        if cookies.count > Self.most { cookies.removeFirst(cookies.count - Self.most) }
    }

    /// The cookies for a request, in the order in which they are sent: longest path first, then the oldest (section 5.4).
    public func cookies(for url: String, now: Date) -> [Cookie] {
        guard !cookies.isEmpty, let place = CookiePlace(url) else { return [] }
        return cookies.filter { $0.isFor(place) && !$0.isExpired(at: now) }.sorted { left, right in
            let (longer, shorter) = (left.path.utf8.count, right.path.utf8.count)
            return longer != shorter ? longer > shorter : left.created < right.created
        }
    }

    /// The `Cookie` header for a request; nil when there is nothing to send. It is a secret: send it, and show it to nobody.
    public func header(for url: String, now: Date) -> String? {
        let cookies = cookies(for: url, now: now)
        return cookies.isEmpty ? nil : cookies.map { "\($0.name)=\($0.value.text)" }.joined(separator: "; ")
    }

    private static func cookie(_ line: SetCookie, from place: CookiePlace, now: Date) -> Cookie? {
        // Max-Age has precedence over Expires (section 4.1.2.2).
        let expiry = line.maxAge.map { $0 <= 0 ? Date(timeIntervalSince1970: 0) : now + Double(min($0, 34_560_000_000)) }
        // A domain of one label is a whole registry's. Which longer ones are too is not known here, and a public suffix list is
        // not asked: AM's own administrators choose the domain.
        let isShared = !line.domain.isEmpty && (line.domain.contains(".") || line.domain == place.host)
        guard line.domain.isEmpty || isShared && place.isWithin(line.domain) else { return nil }
        let isHostOnly = line.domain.isEmpty || !line.domain.contains(".") || place.isAddress
        return Cookie(
            name: line.name, value: Secret(text: line.value), domain: line.domain.isEmpty ? place.host : line.domain,
            isHostOnly: isHostOnly, path: line.path ?? place.defaultPath, isSecure: line.isSecure,
            isHTTPOnly: line.isHTTPOnly, expiry: expiry ?? line.expires, created: now)
    }
}

/// Where a request goes, as cookies see it.
private struct CookiePlace {
    let isSecure: Bool
    /// In lower case, an IPv6 address without its brackets.
    let host: String
    let path: String

    init?(_ url: String) {
        guard let endpoint = try? Endpoint(unchecked: url) else { return nil }
        isSecure = endpoint.scheme == "https"
        host = endpoint.host
        let afterScheme = url.dropFirst(endpoint.scheme.count + 3)
        let rest = afterScheme.drop { $0 != "/" && $0 != "?" && $0 != "#" }
        let path = rest.prefix { $0 != "?" && $0 != "#" }
        self.path = path.isEmpty ? "/" : String(path)
    }

    /// Section 5.1.4: up to the last slash, without it.
    var defaultPath: String {
        guard path.hasPrefix("/"), let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// Whether the host is an IP address, which has no domain above it.
    var isAddress: Bool {
        host.contains(":") || host.split(separator: ".").allSatisfy { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
    }

    /// Section 5.1.3: the host is the domain, or a name below it. Bytes are compared: two characters that Unicode takes for one
    /// are two names to everybody else.
    func isWithin(_ domain: String) -> Bool {
        let (ours, theirs) = (host.utf8, domain.utf8)
        if ours.elementsEqual(theirs) { return true }
        return !isAddress && ours.count > theirs.count && ours.suffix(theirs.count).elementsEqual(theirs)
            && ours.dropLast(theirs.count).last == UInt8(ascii: ".")
    }
}

extension Cookie {
    fileprivate func isFor(_ place: CookiePlace) -> Bool {
        guard isHostOnly ? place.host == domain : place.isWithin(domain), !isSecure || place.isSecure else { return false }
        // Section 5.1.4: the same path, or one below it.
        let (asked, path) = (place.path.utf8, path.utf8)
        guard asked.starts(with: path) else { return false }
        return asked.count == path.count || path.last == UInt8(ascii: "/")
            || asked.dropFirst(path.count).first == UInt8(ascii: "/")
    }
}
