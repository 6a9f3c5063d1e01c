public import Foundation

/// An entry of a server's ``RequestLog``: an answered request, an event of a push message, an email from a journey, or the
/// server's own request to SNS or to a client.
///
/// It contains no secrets: no passwords, codes, tokens, headers or bodies. Parameters are logged by name, and only harmless ones
/// with their value. The link of an email is not logged, because any client can use it to log in;
/// ``DevServer/emailLinks(to:realm:)`` returns it.
public struct RequestLogEntry: Sendable, Hashable {
    /// The event of an entry.
    public enum Event: Sendable, Hashable {
        /// A request was answered, or its connection was cut.
        case request(Request)
        /// A push message was created, delivered, answered or rejected.
        case push(Push)
        /// A journey sent an email.
        case email(Email)
        /// The server sent a request to SNS.
        case sns(SNSRequest)
        /// The server sent a logout token to a client.
        case logout(Logout)
    }

    /// The number of the entry, from 1.
    ///
    /// Numbers are unique.
    public let number: Int
    /// The time of the event, by the server's clock.
    public let at: Date
    /// The event.
    public let event: Event
    /// The names of the faults that were applied, in order.
    public let faults: [String]

    /// The request; nil for other kinds of entries.
    public var request: Request? {
        if case .request(let request) = event { request } else { nil }
    }

    /// The push message event; nil for other kinds of entries.
    public var push: Push? {
        if case .push(let push) = event { push } else { nil }
    }

    /// The email; nil for other kinds of entries.
    public var email: Email? {
        if case .email(let email) = event { email } else { nil }
    }

    /// The server's own request to SNS; nil for other kinds of entries.
    public var sns: SNSRequest? {
        if case .sns(let request) = event { request } else { nil }
    }

    /// The server's attempt to send a logout token to a client; nil for other kinds of entries.
    public var logout: Logout? {
        if case .logout(let logout) = event { logout } else { nil }
    }
}

extension RequestLogEntry {
    /// The client of a request, as far as the request identifies it.
    public struct Client: Sendable, Hashable {
        /// The OAuth 2.0 client ID.
        public var oauth: String?
        /// The ID of a push device's mechanism.
        public var device: String?
        /// The first 128 characters of the `User-Agent` header.
        public var userAgent: String?
        /// The IP address; nil for a client in the server's own process.
        public var address: String?

        /// Creates an unknown client.
        public init() {}
    }

    /// A parameter of a query, a form or a JSON body.
    public struct Parameter: Sendable, Hashable {
        /// The parameter's name.
        public let name: String
        /// The parameter's value; nil when it may be a secret.
        public let value: String?
    }

    /// A request and its response.
    public struct Request: Sendable, Hashable {
        /// The placeholder for the method and the path of a request whose head was incomplete (408, 431 or 400).
        static let unknown = "-"

        /// The method, for example `POST`; `-` when the head was incomplete.
        public let method: String
        /// The path without the query, at most 200 characters; `-` when the head was incomplete.
        ///
        /// A session token in it is replaced by `...`.
        public let path: String
        /// The name of the resource, as in ``FaultRoute``; nil for unknown addresses, the console and the administration API.
        public let resource: String?
        /// The status of the response; 0 when the connection was cut before the response.
        public let status: Int
        /// The time to the response, without the sending of its body, by the machine's clock.
        public let duration: Duration
        /// The parameters, at most 24.
        ///
        /// They include the members of a JSON body; `callbacks` has the callback types as its value.
        public let parameters: [Parameter]
        /// The error: an OAuth 2.0 error code, or the message of AM's error body; nil when the request succeeded.
        public let problem: String?
        /// The client.
        public let client: Client

        /// Returns true when the request had a parameter with this name.
        public func has(_ name: String) -> Bool { parameters.contains { $0.name == name } }

        /// The value of a parameter; nil when the parameter is missing, or its value is not logged.
        public subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }
    }

    /// An event of a push message.
    public struct Push: Sendable, Hashable {
        /// The steps of a push message.
        public enum Step: String, Sendable, Hashable, CaseIterable {
            /// A journey sent the message.
            case made
            /// The message was sent on a stream of the device.
            case delivered
            /// SNS accepted the message.
            case published
            /// SNS rejected the message for good; ``reason`` has the cause.
            case undeliverable
            /// The device approved the message.
            case approved
            /// The device denied the message.
            case denied
            /// The server rejected an answer; ``reason`` has the cause.
            case refused
        }

        /// The step.
        public let step: Step
        /// The message's ID.
        public let messageID: String
        /// The ID of the device's mechanism; nil when it is unknown.
        public let device: String?
        /// The number of the stream that the message was delivered to; nil for the other steps.
        public let stream: UInt64?
        /// The cause of a rejected answer, for example `signature`, `expired`, `numberWrong`, or of a failed delivery; nil for
        /// the other steps.
        public let reason: String?

        init(_ step: Step, _ messageID: String, device: String?, stream: UInt64? = nil, reason: String? = nil) {
            self.step = step
            self.messageID = messageID
            self.device = device
            self.stream = stream
            self.reason = reason
        }
    }

    /// An email from a journey, without its link.
    public struct Email: Sendable, Hashable {
        /// The name of the user that it was sent to.
        public let user: String
        /// The user's realm, as a path.
        public let realm: String
    }

    /// The server's own request to SNS, and the result.
    public struct SNSRequest: Sendable, Hashable {
        /// The SNS action, for example `Publish`.
        public let action: String
        /// The status of the response; 0 without a response.
        public let status: Int
        /// The time to the response, by the machine's clock.
        public let duration: Duration

        init(_ action: String, _ status: Int, took duration: Duration) {
            self.action = action
            self.status = status
            self.duration = duration
        }
    }

    /// The server's attempt to send a logout token to a client (OpenID Connect Back-Channel Logout 1.0), and the result.
    public struct Logout: Sendable, Hashable {
        /// The ID of the client.
        public let client: String
        /// The client's realm, as a path.
        public let realm: String
        /// The number of the attempt, from 1.
        public let attempt: Int
        /// The status of the response; 0 without a response.
        public let status: Int
        /// The time to the response, by the machine's clock.
        public let duration: Duration
    }
}
