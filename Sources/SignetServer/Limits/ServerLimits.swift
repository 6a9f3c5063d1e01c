import SignetCore

/// The limits on the size, the duration and the rate of requests.
///
/// Times are in seconds.
///
/// The limits on single requests (size, duration, connections) always apply. The limits on clients and users (``rateLimits``,
/// ``lockout``, ``factorLockout``, ``messages``) are off by default when the server listens on a loopback address only. There, tests
/// often log in a thousand times, and every client already runs on the machine.
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
    /// The cap on the login flows of one network address that have not ended: `burst` at once, and `perMinute` more each minute,
    /// because flows expire after about ten minutes; nil for no cap.
    ///
    /// It applies on a loopback address too: a website can open login pages there in the user's browser.
    public var loginFlows: RateLimit? = RateLimit(perMinute: 100, burst: 1000)
    /// The rate limits.
    ///
    /// When nil, they are ``RateLimits/default`` if other machines can reach the server, and ``RateLimits/none`` if not.
    public var rateLimits: RateLimits?
    /// The rule for the lockout after wrong passwords.
    ///
    /// When nil, it is ``Lockout/default`` if other machines can reach the server, and ``Lockout/never`` if not.
    public var lockout: Lockout?
    /// The rule for the lockout after wrong answers to security questions, wrong one-time codes and wrong recovery codes.
    ///
    /// When nil, it is ``FactorLockout/default`` if other machines can reach the server, and ``FactorLockout/never`` if not.
    public var factorLockout: FactorLockout?
    /// The limits on push messages to one user, and on emails to one user or one address.
    ///
    /// When nil, they are ``MessageLimits/default`` if other machines can reach the server, and ``MessageLimits/none`` if not.
    public var messages: MessageLimits?

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
    /// Wrong user codes of devices, from one user and from one address (RFC 8628 section 5.1).
    public var userCode: RateLimit?

    /// Creates rate limits.
    ///
    /// Omitted ones are unlimited.
    public init(
        authenticate: RateLimit? = nil, token: RateLimit? = nil, push: RateLimit? = nil, perUser: RateLimit? = nil,
        userCode: RateLimit? = nil
    ) {
        self.authenticate = authenticate
        self.token = token
        self.push = push
        self.perUser = perUser
        self.userCode = userCode
    }

    /// No limits.
    public static let none = RateLimits()

    /// The default limits: enough for a team behind one address.
    ///
    /// They alone do not stop guesses for days; ``Lockout`` and ``FactorLockout`` do.
    public static let `default` = RateLimits(
        authenticate: RateLimit(perMinute: 300, burst: 100), token: RateLimit(perMinute: 300, burst: 100),
        push: RateLimit(perMinute: 300, burst: 100), perUser: RateLimit(perMinute: 30, burst: 20),
        userCode: RateLimit(perMinute: 3, burst: 10))
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
    /// The number of wrong passwords from which on the answers warn of the lockout; 0 for no warning, the default of AM.
    public var warnAfter: Int

    /// Creates a rule.
    ///
    /// Times less than 1 count as 1.
    public init(failures: Int, within: Int = 300, duration: Int = 300, warnAfter: Int = 0) {
        self.failures = max(0, failures)
        self.within = max(1, within)
        self.duration = max(1, duration)
        self.warnAfter = max(0, warnAfter)
    }

    /// No lockout, the default of AM.
    public static let never = Lockout(failures: 0)

    /// Lockout for five minutes after five wrong passwords within five minutes.
    ///
    /// Five is AM's number too.
    public static let `default` = Lockout(failures: 5)
}

/// The rule that locks security questions, one-time codes and recovery codes after wrong ones.
///
/// Each of the three is counted and locked by itself, for each user. A correct password does not clear the count, because an
/// attacker with the password could otherwise guess codes without end. These end a lockout: its duration, an unlock by
/// an administrator or a journey, and a new password that an administrator sets. A correct answer or code clears the count.
/// NIST SP 800-63B section 5.2.2 permits at most 100 wrong ones in a row.
///
/// A journey that asks for an answer or code after the name alone has a count and a lockout of its own, so that an attacker
/// with only the name cannot lock the user out of the journeys that ask for the password or send an email first. A correct answer
/// or code in one of these ends that lockout too.
///
/// During a lockout no answer or code is checked, and the response is AM's `User Locked Out.`.
public struct FactorLockout: Sendable, Hashable {
    /// The number of wrong answers or codes in a row after which each lockout begins; 0 to disable lockout.
    public var failures: Int
    /// The duration of a lockout, in seconds; at least 1.
    public var duration: Int
    /// The number of wrong answers or codes in a row after which the lockout has no end, from ``failures`` to 100.
    public var total: Int

    /// Creates a rule.
    ///
    /// Values outside of their ranges count as the nearest valid ones.
    public init(failures: Int, duration: Int = 900, total: Int = 100) {
        self.failures = max(0, failures)
        self.duration = max(1, duration)
        self.total = min(max(total, self.failures), 100)
    }

    /// No lockout.
    public static let never = FactorLockout(failures: 0)

    /// Lockout for 15 minutes after each ten wrong answers or codes in a row, and until an unlock after a hundred.
    public static let `default` = FactorLockout(failures: 10)
}

/// The limits on push messages to one user, and on emails to one user or one address, so that an attacker cannot send one after
/// another until the user approves one.
public struct MessageLimits: Sendable, Hashable {
    /// The maximum number of push messages that wait for the user's response; at least 1.
    public var maxWaiting: Int
    /// The number of messages without an approval, or without a followed link, after which pauses begin; at least 1.
    public var unanswered: Int
    /// The first pause in seconds, at least 1.
    ///
    /// Each further message without an answer doubles it.
    public var pause: Int
    /// The longest pause in seconds; at least ``pause``.
    public var maxPause: Int

    /// Creates limits.
    ///
    /// Values outside of their ranges count as the nearest valid ones.
    public init(maxWaiting: Int = 3, unanswered: Int = 3, pause: Int = 60, maxPause: Int = 1800) {
        self.maxWaiting = max(1, maxWaiting)
        self.unanswered = max(1, unanswered)
        self.pause = min(max(1, pause), 3_153_600_000)
        self.maxPause = max(self.pause, maxPause)
    }

    /// No limits, except that 64 push messages can wait for a device.
    public static let none = MessageLimits(maxWaiting: PushMessageStore.inboxCapacity, unanswered: .max)

    /// Three waiting push messages, and a pause after three messages without an answer: a minute at first, half an hour at most.
    public static let `default` = MessageLimits()
}

extension ServerConfiguration {
    /// True when other machines can reach the address that the server listens on.
    var isExposed: Bool { !EndpointPolicy.isLoopback(host) }

    /// True when other machines can reach the server: directly, or through a proxy, which sends the host of the public address or
    /// one of the allowed hosts.
    var isReachable: Bool {
        let publicHost = publicURL.flatMap { try? Endpoint(unchecked: $0) }?.host
        return isExposed || ([publicHost].compactMap { $0 } + allowedHosts).contains { !HostPolicy.isLoopbackName($0) }
    }

    /// The rate limits in effect.
    ///
    /// Behind a proxy all clients have its address, so only the limits per user have a default.
    var rateLimits: RateLimits {
        let ofUsers = RateLimits(perUser: RateLimits.default.perUser, userCode: RateLimits.default.userCode)
        return limits.rateLimits ?? (isExposed ? .default : isReachable ? ofUsers : .none)
    }

    /// True when wrong user codes count for the address of a client too, and not only for the user.
    var limitsUserCodesOfAddress: Bool { isExposed || limits.rateLimits != nil }

    /// The lockout rule in effect.
    var lockoutRule: Lockout { limits.lockout ?? (isReachable ? .default : .never) }

    /// The lockout rule for answers and codes in effect.
    var factorLockoutRule: FactorLockout { limits.factorLockout ?? (isReachable ? .default : .never) }

    /// The limits on messages in effect.
    var messageLimits: MessageLimits { limits.messages ?? (isReachable ? .default : .none) }
}
