import SignetCore

/// How much, how slowly and how often somebody may ask. Times are in seconds.
///
/// What is measured by the request (sizes, the time that a request takes to come, connections) holds everywhere. What is measured by who
/// asks (``rates``, ``lockout``) has no standard at an address of this machine only: there a test that logs in a thousand times is
/// the usual case, and everybody who can ask has the machine already.
public struct ServerLimits: Sendable, Hashable {
    /// The largest head of a request, in bytes: its header fields together. A larger one is answered with 400.
    public var largestHead = 32 * 1024
    /// How long the head of a request may take, from its first byte to its last, a TLS handshake included; at least 1. After that the
    /// answer is 408, and the connection ends.
    public var headTime = 10
    /// How long the body of a request may take, from the end of the head; at least 1. After that the answer is 408, and the
    /// connection ends.
    public var bodyTime = 30
    /// After how long without a request a connection is closed; at least 1. One that a desk stream is open on is never idle.
    public var idleTime = 60
    /// How many connections there may be at a time; at least 1. More wait until one ends. There are never more than the process may
    /// have files open.
    public var connections = 16_384
    /// How often somebody may ask. Nil for ``RateLimits/standard`` where other machines can reach the server, and
    /// ``RateLimits/none`` where they cannot.
    public var rates: RateLimits?
    /// When wrong passwords lock an account. Nil for ``Lockout/standard`` where other machines can reach the server, and
    /// ``Lockout/never`` where they cannot.
    public var lockout: Lockout?

    /// The standards.
    public init() {}
}

/// How often something may be done: `perMinute` times in the long run, and `burst` times at once.
public struct RateLimit: Sendable, Hashable {
    /// How often in a minute; at least 1.
    public var perMinute: Int
    /// How often at once, by somebody who has not asked for a while; at least 1.
    public var burst: Int

    /// A limit; what is smaller than 1 counts as 1.
    public init(perMinute: Int, burst: Int) {
        self.perMinute = max(1, perMinute)
        self.burst = max(1, burst)
    }
}

/// How often somebody may ask; nil is no limit. Who asks more often is answered with 429 and `Retry-After`, in seconds.
public struct RateLimits: Sendable, Hashable {
    /// Steps of journeys from one address, over `authenticate` and on pages.
    public var authenticate: RateLimit?
    /// Requests with a client's credentials from one address: tokens, device codes, introspection, revocation.
    public var token: RateLimit?
    /// Registrations and answers of devices from one address.
    public var push: RateLimit?
    /// Guesses at what one person knows, wherever they come from: passwords, one-time codes, recovery codes, answers to questions.
    public var person: RateLimit?

    /// Limits; those that are left out are none.
    public init(
        authenticate: RateLimit? = nil, token: RateLimit? = nil, push: RateLimit? = nil, person: RateLimit? = nil
    ) {
        self.authenticate = authenticate
        self.token = token
        self.push = push
        self.person = person
    }

    /// No limits.
    public static let none = RateLimits()

    /// Enough for a team behind one address, and too little to guess a code of six digits in.
    public static let standard = RateLimits(
        authenticate: RateLimit(perMinute: 300, burst: 100), token: RateLimit(perMinute: 300, burst: 100),
        push: RateLimit(perMinute: 300, burst: 100), person: RateLimit(perMinute: 30, burst: 20))
}

/// When wrong passwords lock an account, as AM's "login failure lockout" does: `failures` of them within `within` seconds, for
/// `duration` seconds. Meanwhile no password is looked at, and the answer is AM's `User Locked Out.`, for a name that nobody has too.
public struct Lockout: Sendable, Hashable {
    /// How many wrong passwords; 0 for never.
    public var failures: Int
    /// Within how many seconds; at least 1.
    public var within: Int
    /// For how many seconds; at least 1.
    public var duration: Int

    /// A rule; times that are smaller than 1 count as 1.
    public init(failures: Int, within: Int = 300, duration: Int = 300) {
        self.failures = max(0, failures)
        self.within = max(1, within)
        self.duration = max(1, duration)
    }

    /// Wrong passwords lock nothing, as in AM unless somebody turns it on.
    public static let never = Lockout(failures: 0)

    /// Five wrong passwords within five minutes, AM's own number, for five minutes.
    public static let standard = Lockout(failures: 5)
}

extension ServerConfiguration {
    /// Whether other machines can reach the address that is listened on.
    var isExposed: Bool { !EndpointPolicy.isLoopback(host) }

    /// The limits on how often somebody may ask.
    var rateLimits: RateLimits { limits.rates ?? (isExposed ? .standard : .none) }

    /// The rule for wrong passwords.
    var lockoutRule: Lockout { limits.lockout ?? (isExposed ? .standard : .never) }
}
