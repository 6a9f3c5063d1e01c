import SignetCore
import YAMLText

extension SectionReader {
    /// The maximum in seconds: a day.
    private static var longest: Int { 86_400 }

    /// Reads the limits for the size, the duration and the rate of requests.
    mutating func limits(_ server: inout ServerConfiguration) {
        guard let value = value("limits", kind: "limits by names") else { return }
        var part = SectionReader(value, subject: "server, limits")
        var limits = server.limits
        server.largestBody = part.number("largestBody", server.largestBody, in: 1024...(64 << 20))
        limits.largestHead = part.number("largestHead", limits.largestHead, in: 1024...(1 << 20))
        limits.headTime = part.number("headTime", limits.headTime, in: 1...Self.longest)
        limits.bodyTime = part.number("bodyTime", limits.bodyTime, in: 1...Self.longest)
        limits.idleTime = part.number("idleTime", limits.idleTime, in: 1...Self.longest)
        limits.connections = part.number("connections", limits.connections, in: 1...1_000_000)
        limits.rates = part.rates() ?? limits.rates
        limits.lockout = part.lockout() ?? limits.lockout
        server.limits = limits
        note(part.finished())
    }

    /// Reads `none` or the rate limits by name. A limit that is omitted has its default.
    private mutating func rates() -> RateLimits? {
        let kind = "`none`, or limits by names"
        guard let value = value("rates", kind: kind, standard: "by the address that is listened on") else { return nil }
        if value.text == "none" { return RateLimits.none }
        guard value.mapping != nil else {
            note(value.place, "`rates` is \(kind), not \(value.kind)")
            return nil
        }
        var part = SectionReader(value, subject: "server, limits, rates")
        var rates = RateLimits.standard
        rates.authenticate = part.rate("authenticate", rates.authenticate)
        rates.token = part.rate("token", rates.token)
        rates.push = part.rate("push", rates.push)
        rates.person = part.rate("person", rates.person)
        note(part.finished())
        return rates
    }

    private mutating func rate(_ name: String, _ standard: RateLimit?) -> RateLimit? {
        let kind = "`none`, or `{perMinute: 60, burst: 10}`"
        guard let value = value(name, kind: kind) else { return standard }
        if value.text == "none" { return nil }
        guard value.mapping != nil else {
            note(value.place, "`\(name)` is \(kind), not \(value.kind)")
            return standard
        }
        var part = SectionReader(value, subject: "server, limits, rates, \(name)")
        let perMinute = part.number("perMinute", standard?.perMinute ?? 60, in: 1...1_000_000)
        let burst = part.number("burst", standard?.burst ?? 10, in: 1...1_000_000)
        note(part.finished())
        return RateLimit(perMinute: perMinute, burst: burst)
    }

    private mutating func lockout() -> Lockout? {
        let kind = "`never`, or `{failures: 5, within: 300, duration: 300}`"
        guard let value = value("lockout", kind: kind, standard: "by the address that is listened on") else { return nil }
        if value.text == "never" { return .never }
        guard value.mapping != nil else {
            note(value.place, "`lockout` is \(kind), not \(value.kind)")
            return nil
        }
        var part = SectionReader(value, subject: "server, limits, lockout")
        let standard = Lockout.standard
        let lockout = Lockout(
            failures: part.number("failures", standard.failures, in: 1...1000),
            within: part.number("within", standard.within, in: 1...3_153_600_000),
            duration: part.number("duration", standard.duration, in: 1...3_153_600_000))
        note(part.finished())
        return lockout
    }

    /// Reads the origins that may send cross-origin requests. Each has a scheme, a host and an optional port, in the form that
    /// browsers use.
    /// - Parameters:
    ///   - name: The name of the setting.
    ///   - ofApps: True to also accept the origins of Android apps.
    mutating func origins(_ name: String, ofApps: Bool = false) -> [String] {
        let origins = optionalTexts(name) ?? []
        for origin in origins where !Self.isOrigin(origin) && !(ofApps && origin.hasPrefix("android:apk-key-hash:")) {
            note(
                place(of: name),
                "`\(origin.shortened)` is no origin: that is a scheme, a host and perhaps a port, such as `https://app.example`, "
                    + "without a path; there is no `*`, because browsers send cookies to named servers only")
        }
        return origins
    }

    private static func isOrigin(_ text: String) -> Bool {
        guard let endpoint = try? Endpoint(text, policy: .allowingPlainHTTP(to: Set([host(of: text)]))) else { return false }
        let host = endpoint.host.contains(":") ? "[\(endpoint.host)]" : endpoint.host
        let isUsual = endpoint.port == (endpoint.scheme == "https" ? 443 : 80)
        return text == "\(endpoint.scheme)://\(host)\(isUsual ? "" : ":\(endpoint.port)")"
    }

    private static func host(of text: String) -> String {
        let authority = text.firstRange(of: "://").map { text[$0.upperBound...] } ?? text[...]
        return String(authority.prefix { $0 != ":" && $0 != "/" })
    }

    /// Reads the TLS certificate of the server.
    /// - Parameter isUsed: True when the server uses the certificate now, so the files must exist.
    mutating func tls(isUsed: Bool) -> ServerTLS? {
        let kind = "`{certificate: file, key: file}`, or `{directory: path}` for an authority of the server's own"
        guard let value = value("tls", kind: kind, standard: "none") else { return nil }
        guard value.mapping != nil else {
            note(value.place, "`tls` is \(kind), not \(value.kind)")
            return nil
        }
        var part = SectionReader(value, subject: "server, tls")
        let directory = part.optionalText("directory")
        let (certificate, key) = (part.optionalText("certificate"), part.optionalText("key"))
        if isUsed, directory == nil, let certificate, let key { part.checkIdentity(certificate, key) }
        note(part.finished())
        switch (directory, certificate, key) {
        case (let directory?, nil, nil): return .ownAuthority(directory: directory)
        case (nil, let certificate?, let key?): return .files(certificate: certificate, key: key)
        default:
            note(value.place, "`tls` is \(kind)")
            return nil
        }
    }

    /// Reports the reasons for which the server cannot use a certificate file and a key file.
    private mutating func checkIdentity(_ certificate: String, _ key: String) {
        let chain = found("certificate") { () throws(ServerTLSError) in try TLSIdentity.certificates(in: certificate) }
        let secret = found("key") { () throws(ServerTLSError) in try TLSIdentity.privateKey(in: key) }
        guard let chain, let secret else { return }
        _ = found("key") { () throws(ServerTLSError) in try TLSIdentity.context(chain, secret, certificate, key) }
    }

    private mutating func found<Value>(_ name: String, _ read: () throws(ServerTLSError) -> Value) -> Value? {
        do throws(ServerTLSError) {
            return try read()
        } catch {
            note(place(of: name), "`\(name)`: \(error)")
            return nil
        }
    }
}
