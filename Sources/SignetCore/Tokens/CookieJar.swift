#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The cookies of one client, as a value.
///
/// It stores the cookies that servers set and selects those to send, by the rules of RFC 6265 section 5.
///
/// A jar reads no clock and opens no file. It is Codable, so that any storage can hold it.
public struct CookieJar: Sendable, Hashable, Codable {
    /// The stored cookies, oldest first.
    public private(set) var cookies: [Cookie]

    /// The maximum number of cookies.
    ///
    /// The oldest are removed first (section 6.1 requires at least 50 for each domain).
    static let maxCookies = 300

    /// Creates a jar with these cookies.
    public init(_ cookies: [Cookie] = []) {
        self.cookies = cookies
    }

    /// Stores the cookie of a `Set-Cookie` header (section 5.3).
    ///
    /// Invalid headers, and cookies for a domain that the sender does not belong to, are ignored. An expired cookie removes the
    /// stored cookie with its name, domain and path.
    /// - Parameters:
    ///   - header: The value of the `Set-Cookie` header.
    ///   - url: The address of the request.
    ///   - now: The current time.
    public mutating func set(_ header: String, from url: String, now: Date) {
        guard let line = SetCookie(header), let request = CookieRequest(url),
            let cookie = Self.cookie(line, from: request, now: now)
        else { return }
        let old = cookies.firstIndex { $0.identity == cookie.identity }
        let created = old.map { cookies[$0].created }
        if let old { cookies.remove(at: old) }
        guard !cookie.isExpired(at: now) else { return }
        cookies.append(created.map { cookie.created(at: $0) } ?? cookie)
        if cookies.count > Self.maxCookies { cookies.removeFirst(cookies.count - Self.maxCookies) }
    }

    /// Returns the cookies for a request, in the order in which they are sent: longest path first, then the oldest (section 5.4).
    public func cookies(for url: String, now: Date) -> [Cookie] {
        guard !cookies.isEmpty, let request = CookieRequest(url) else { return [] }
        return cookies.filter { $0.isFor(request) && !$0.isExpired(at: now) }.sorted { left, right in
            let (longer, shorter) = (left.path.utf8.count, right.path.utf8.count)
            return longer != shorter ? longer > shorter : left.created < right.created
        }
    }

    /// Returns the `Cookie` header for a request; nil when the jar has no cookie for it.
    ///
    /// It contains secrets: send it, and do not show or log it.
    public func header(for url: String, now: Date) -> String? {
        let cookies = cookies(for: url, now: now)
        return cookies.isEmpty ? nil : cookies.map { "\($0.name)=\($0.value.text)" }.joined(separator: "; ")
    }

    private static func cookie(_ line: SetCookie, from request: CookieRequest, now: Date) -> Cookie? {
        // Max-Age has precedence over Expires (section 4.1.2.2).
        let expiry = line.maxAge.map { $0 <= 0 ? Date(timeIntervalSince1970: 0) : now + Double(min($0, 34_560_000_000)) }
        // A domain of one label, such as a top-level domain, must not share cookies. Longer public suffixes are accepted: the
        // package has no public suffix list, and AM's administrators choose the domain.
        let isShared = !line.domain.isEmpty && (line.domain.contains(".") || line.domain == request.host)
        guard line.domain.isEmpty || isShared && request.isWithin(line.domain) else { return nil }
        let isHostOnly = line.domain.isEmpty || !line.domain.contains(".") || request.isAddress
        return Cookie(
            name: line.name, value: Secret(text: line.value), domain: line.domain.isEmpty ? request.host : line.domain,
            isHostOnly: isHostOnly, path: line.path ?? request.defaultPath, isSecure: line.isSecure,
            isHTTPOnly: line.isHTTPOnly, expiry: expiry ?? line.expires, created: now)
    }
}

/// The parts of a request address that cookies depend on.
private struct CookieRequest {
    let isSecure: Bool
    /// The host in lower case.
    ///
    /// An IPv6 address has no brackets.
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

    /// The default path (section 5.1.4): the path up to, and without, its last slash.
    var defaultPath: String {
        guard path.hasPrefix("/"), let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// A Boolean value that indicates whether the host is an IP address, which has no parent domain.
    var isAddress: Bool {
        host.contains(":") || host.split(separator: ".").allSatisfy { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
    }

    /// Returns true when the host is the domain or a name below it (section 5.1.3).
    ///
    /// Bytes are compared, because names that Unicode considers equivalent are different host names.
    func isWithin(_ domain: String) -> Bool {
        let (ours, theirs) = (host.utf8, domain.utf8)
        if ours.elementsEqual(theirs) { return true }
        return !isAddress && ours.count > theirs.count && ours.suffix(theirs.count).elementsEqual(theirs)
            && ours.dropLast(theirs.count).last == UInt8(ascii: ".")
    }
}

extension Cookie {
    fileprivate func isFor(_ request: CookieRequest) -> Bool {
        guard isHostOnly ? request.host == domain : request.isWithin(domain), !isSecure || request.isSecure else { return false }
        // Section 5.1.4: the path is the same, or below the cookie's path.
        let (asked, path) = (request.path.utf8, path.utf8)
        guard asked.starts(with: path) else { return false }
        return asked.count == path.count || path.last == UInt8(ascii: "/")
            || asked.dropFirst(path.count).first == UInt8(ascii: "/")
    }
}
