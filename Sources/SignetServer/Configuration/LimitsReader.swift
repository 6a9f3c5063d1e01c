import SignetCore
import YAMLText

extension ConfigurationDecoder {
    /// The maximum in seconds: a day.
    private static var maxSeconds: Int { 86_400 }
    /// The maximum in seconds of a lockout: a hundred years.
    private static var century: Int { 3_153_600_000 }

    /// Decodes the limits for the size, the duration and the rate of requests.
    mutating func limits(_ server: inout ServerConfiguration) {
        var (limits, maxBodySize) = (server.limits, server.maxBodySize)
        _ = section("limits", kind: "limits by name") { part in
            maxBodySize = part.integer("maxBodySize", maxBodySize, in: 1024...(64 << 20))
            limits.maxHeaderSize = part.integer("maxHeaderSize", limits.maxHeaderSize, in: 1024...(1 << 20))
            limits.headerTimeout = part.integer("headerTimeout", limits.headerTimeout, in: 1...Self.maxSeconds)
            limits.bodyTimeout = part.integer("bodyTimeout", limits.bodyTimeout, in: 1...Self.maxSeconds)
            limits.idleTimeout = part.integer("idleTimeout", limits.idleTimeout, in: 1...Self.maxSeconds)
            limits.maxConnections = part.integer("maxConnections", limits.maxConnections, in: 1...1_000_000)
            limits.loginFlows = part.rate("loginFlows", limits.loginFlows)
            limits.rateLimits = part.rateLimits() ?? limits.rateLimits
            limits.lockout = part.lockout() ?? limits.lockout
            limits.factorLockout = part.factorLockout() ?? limits.factorLockout
            limits.messages = part.messageLimits() ?? limits.messages
        }
        (server.limits, server.maxBodySize) = (limits, maxBodySize)
    }

    /// Decodes a limit on clients or users, whose default depends on the address.
    /// - Parameters:
    ///   - name: The name of the limit.
    ///   - kind: The values that it may have, for the report of another value.
    ///   - off: The word that turns the limit off, and the limit then.
    ///   - read: Reads the limit from its settings.
    /// - Returns: The limit; nil when it is absent or invalid. An invalid limit is reported.
    private mutating func limit<Limit>(
        _ name: String, kind: String, off: (name: String, value: Limit), _ read: (inout Self) -> Limit
    ) -> Limit? {
        section(name, kind: kind, default: "depends on the address that the server listens on", keyword: off, read)
    }

    /// Decodes `none` or the rate limits by name.
    ///
    /// A limit that is omitted has its default.
    private mutating func rateLimits() -> RateLimits? {
        limit("rateLimits", kind: "`none`, or limits by name", off: ("none", RateLimits.none)) { part in
            let defaults = RateLimits.default
            return RateLimits(
                authenticate: part.rate("authenticate", defaults.authenticate), token: part.rate("token", defaults.token),
                push: part.rate("push", defaults.push), perUser: part.rate("perUser", defaults.perUser),
                userCode: part.rate("userCode", defaults.userCode))
        }
    }

    private mutating func rate(_ name: String, _ defaultValue: RateLimit?) -> RateLimit? {
        let rate: RateLimit?? = section(name, kind: "`none`, or `{perMinute: 60, burst: 10}`", keyword: ("none", nil)) { part in
            RateLimit(
                perMinute: part.integer("perMinute", defaultValue?.perMinute ?? 60, in: 1...1_000_000),
                burst: part.integer("burst", defaultValue?.burst ?? 10, in: 1...1_000_000))
        }
        return rate ?? defaultValue
    }

    private mutating func lockout() -> Lockout? {
        limit("lockout", kind: "`never`, or `{failures: 5, within: 300, duration: 300}`", off: ("never", Lockout.never)) { part in
            let defaults = Lockout.default
            return Lockout(
                failures: part.integer("failures", defaults.failures, in: 1...1000),
                within: part.integer("within", defaults.within, in: 1...Self.century),
                duration: part.integer("duration", defaults.duration, in: 1...Self.century),
                warnAfter: part.integer("warnAfter", defaults.warnAfter, in: 0...1000))
        }
    }

    private mutating func factorLockout() -> FactorLockout? {
        limit(
            "factorLockout", kind: "`never`, or `{failures: 10, duration: 900, total: 100}`", off: ("never", FactorLockout.never)
        ) { part in
            let defaults = FactorLockout.default
            let failures = part.integer("failures", defaults.failures, in: 1...100)
            return FactorLockout(
                failures: failures, duration: part.integer("duration", defaults.duration, in: 1...Self.century),
                total: part.integer("total", defaults.total, in: failures...100))
        }
    }

    private mutating func messageLimits() -> MessageLimits? {
        limit(
            "messages", kind: "`none`, or `{maxWaiting: 3, unanswered: 3, pause: 60, maxPause: 1800}`",
            off: ("none", MessageLimits.none)
        ) { part in
            let defaults = MessageLimits.default
            let pause = part.integer("pause", defaults.pause, in: 1...Self.maxSeconds)
            return MessageLimits(
                maxWaiting: part.integer("maxWaiting", defaults.maxWaiting, in: 1...PushMessageStore.inboxCapacity),
                unanswered: part.integer("unanswered", defaults.unanswered, in: 1...1000), pause: pause,
                maxPause: part.integer("maxPause", max(pause, defaults.maxPause), in: pause...Self.maxSeconds))
        }
    }

    /// Reads the origins that may send cross-origin requests.
    ///
    /// Each has a scheme, a host and an optional port, in the form that browsers use.
    /// - Parameters:
    ///   - name: The name of the setting.
    ///   - ofApps: True to also accept the origins of Android apps.
    /// - Returns: The origins in the order of the file; empty when the setting is absent. Invalid origins are reported and
    ///   included.
    mutating func origins(_ name: String, ofApps: Bool = false) -> [String] {
        let origins = optionalStrings(name) ?? []
        for origin in origins where !Self.isOrigin(origin) && !(ofApps && origin.hasPrefix("android:apk-key-hash:")) {
            report(
                .invalidValue, in: name,
                "`\(origin.shortened)` isn't an origin: a scheme, a host and an optional port, such as `https://app.example`, "
                    + "without a path; `*` is not possible, because browsers send cookies only to named origins")
        }
        return origins
    }

    /// Reads host names and IP addresses without a port.
    /// - Parameter name: The name of the setting.
    /// - Returns: The hosts in the order of the file; empty when the setting is absent. Invalid hosts are reported and included.
    mutating func hosts(_ name: String) -> [String] {
        let hosts = optionalStrings(name) ?? []
        for host in hosts where !TextRule.isHost(host) && !Self.isAddress(host) {
            report(
                .invalidValue, in: name,
                "`\(host.shortened)` isn't a host: a name such as `login.example.test` or an IP address, without scheme and port")
        }
        return hosts
    }

    /// Returns true for an IPv6 address without brackets.
    private static func isAddress(_ text: String) -> Bool {
        text.contains(":") && CertifiedNames.address(text) != nil
    }

    private static func isOrigin(_ text: String) -> Bool {
        guard let endpoint = try? Endpoint(text, policy: .allowingPlainHTTP(to: Set([host(of: text)]))) else { return false }
        return text == endpoint.origin(at: endpoint.host)
    }

    private static func host(of text: String) -> String {
        let authority = text.firstRange(of: "://").map { text[$0.upperBound...] } ?? text[...]
        return String(authority.prefix { $0 != ":" && $0 != "/" })
    }

    /// Reads the TLS certificate of the server.
    /// - Parameter isUsed: True when the server uses the certificate now, so the files must exist.
    /// - Returns: The location of the certificate and the key; nil when the setting is absent or invalid. An invalid setting is
    ///   reported.
    mutating func tls(isUsed: Bool) -> ServerTLS? {
        let kind = "`{certificate: file, key: file}`, or `{directory: path}` for the server's own authority"
        var tls: ServerTLS?
        let isGiven: Void? = section("tls", kind: kind, default: "none") { part in
            let directory = part.optionalString("directory")
            let (certificate, key) = (part.optionalString("certificate"), part.optionalString("key"))
            if isUsed, directory == nil, let certificate, let key { part.checkIdentity(certificate, key) }
            tls =
                switch (directory, certificate, key) {
                case (let directory?, nil, nil): .ownAuthority(directory: directory)
                case (nil, let certificate?, let key?): .files(certificate: certificate, key: key)
                default: nil
                }
        }
        if isGiven != nil, tls == nil { report(.invalidValue, in: "tls", "`tls` must be \(kind)") }
        return tls
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
            report(.unusableResource, in: name, "`\(name)`: \(error)")
            return nil
        }
    }
}
