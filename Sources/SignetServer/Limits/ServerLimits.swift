import SignetCore

/// The limits on the size, the duration and the rate of requests.
///
/// Times are in seconds.
///
/// The limits on single requests (size, duration, connections) always apply. The limits on clients and users (``rateLimits``,
/// ``lockout``) are off by default when the server listens on a loopback address only. There, tests often log in a thousand
/// times, and every client already runs on the machine.
public struct ServerLimits: Sendable, Hashable {
    /// The largest head of a request, in bytes: all header fields together.
    ///
    /// A larger one gets a 431 response.
    public var maxHeaderSize = 32 * 1024
    /// The longest time for the head of a request, from its first byte to its last, including a TLS handshake; at least 1.
    ///
    /// After that, the server responds with 408 and closes the connection.
    public var headerTimeout = 10
    /// The longest time for the body of a request, from the end of the head; at least 1.
    ///
    /// After that, the server responds with 408 and closes the connection.
    public var bodyTimeout = 30
    /// The time without a request after which a connection is closed; at least 1.
    ///
    /// A connection with an open push stream is never idle.
    public var idleTimeout = 60
    /// The maximum number of open connections; at least 1.
    ///
    /// Further connections wait until one ends. The process's limit of open files is an upper bound.
    public var maxConnections = 16_384
    /// The rate limits.
    ///
    /// When nil, they are ``RateLimits/default`` if other machines can reach the server, and ``RateLimits/none`` if not.
    public var rateLimits: RateLimits?
    /// The rule for the lockout after wrong passwords.
    ///
    /// When nil, it is ``Lockout/default`` if other machines can reach the server, and ``Lockout/never`` if not.
    public var lockout: Lockout?

    /// Creates the default limits.
    public init() {}
}

/// A rate limit: `perMinute` requests on average, and `burst` requests at once.
public struct RateLimit: Sendable, Hashable {
    /// The average number per minute; at least 1.
    public var perMinute: Int
    /// The number at once after a pause; at least 1.
    public var burst: Int

    /// Creates a limit.
    ///
    /// Values less than 1 count as 1.
    public init(perMinute: Int, burst: Int) {
        self.perMinute = max(1, perMinute)
        self.burst = max(1, burst)
    }
}

/// The rate limits of the server; nil means unlimited.
///
/// Requests above a limit get a 429 response with `Retry-After`, in seconds.
public struct RateLimits: Sendable, Hashable {
    /// Journey steps from one address, by `authenticate` and by the login pages.
    public var authenticate: RateLimit?
    /// Requests with client credentials from one address: tokens, device codes, introspection, revocation.
    public var token: RateLimit?
    /// Device registrations and push answers from one address.
    public var push: RateLimit?
    /// Attempts for one user from any address: passwords, one-time codes, recovery codes, security answers.
    public var perUser: RateLimit?

    /// Creates rate limits.
    ///
    /// Omitted ones are unlimited.
    public init(
        authenticate: RateLimit? = nil, token: RateLimit? = nil, push: RateLimit? = nil, perUser: RateLimit? = nil
    ) {
        self.authenticate = authenticate
        self.token = token
        self.push = push
        self.perUser = perUser
    }

    /// No limits.
    public static let none = RateLimits()

    /// The default limits: enough for a team behind one address, and too few to guess a six-digit code.
    public static let `default` = RateLimits(
        authenticate: RateLimit(perMinute: 300, burst: 100), token: RateLimit(perMinute: 300, burst: 100),
        push: RateLimit(perMinute: 300, burst: 100), perUser: RateLimit(perMinute: 30, burst: 20))
}

/// The rule that locks accounts after wrong passwords, like AM's "login failure lockout": `failures` wrong passwords within
/// `within` seconds lock the account for `duration` seconds.
///
/// During that time no password is checked, and the response is AM's `User Locked Out.`, for unknown user names too.
public struct Lockout: Sendable, Hashable {
    /// The number of wrong passwords; 0 to disable lockout.
    public var failures: Int
    /// The period in which they are counted, in seconds; at least 1.
    public var within: Int
    /// The duration of the lockout, in seconds; at least 1.
    public var duration: Int

    /// Creates a rule.
    ///
    /// Times less than 1 count as 1.
    public init(failures: Int, within: Int = 300, duration: Int = 300) {
        self.failures = max(0, failures)
        self.within = max(1, within)
        self.duration = max(1, duration)
    }

    /// No lockout, the default of AM.
    public static let never = Lockout(failures: 0)

    /// Lockout for five minutes after five wrong passwords within five minutes.
    ///
    /// Five is AM's number too.
    public static let `default` = Lockout(failures: 5)
}

extension ServerConfiguration {
    /// True when other machines can reach the address that the server listens on.
    var isExposed: Bool { !EndpointPolicy.isLoopback(host) }

    /// The rate limits in effect.
    var rateLimits: RateLimits { limits.rateLimits ?? (isExposed ? .default : .none) }

    /// The lockout rule in effect.
    var lockoutRule: Lockout { limits.lockout ?? (isExposed ? .default : .never) }
}
