import Foundation
public import SignetCore
public import SignetNetwork
public import SignetOAuth

/// The devices of the logged-in user at the server: those for one-time codes and push messages, bound devices, passkeys, and
/// profiles of devices (protocol/journey.md section 1.5).
///
///     for device in try await app.devices.list(.push) { print(device.name) }
///     let renamed = try await app.devices.rename(device, to: "Work phone")
///     try await app.devices.delete(renamed)
///
/// A server accepts only requests with a session of AM for the user's own devices. The user is the one of the session; the server
/// is asked for the name once for each session. No method changes the stored session.
public struct DeviceClient: Sendable {
    /// The profile of the server.
    public let profile: ServerProfile
    private let source: SessionSource
    private let pipeline: RequestPipeline
    private let dialect: DetectedDialect
    private let clock: any WallClock
    private let owner = KnownOwner()

    /// The largest number of bytes of a name in UTF-8.
    public static let maxNameLength = 4096

    /// The source of the session.
    private enum SessionSource: Sendable {
        case stored(TokenSource)
        case given(SSOToken)
    }

    /// The session of a request, with the cookies and the user's name.
    private struct Access {
        let session: SSOToken
        let cookies: CookieJar?
        let user: String
    }

    /// Creates a client with the session that a token source stores.
    ///
    /// ``IdentityClient/devices`` is one.
    /// - Parameters:
    ///   - profile: The profile of the server. `ServerEndpoint.users` is the address of the users.
    ///   - tokens: The token source with the session.
    ///   - transport: The transport that sends the requests.
    ///   - interceptors: The interceptors that see each request before it is sent, in this order. The actions are `USER_DEVICES`,
    ///     and `SESSION_INFO` for the user's name.
    ///   - requestLogger: Called with a summary of each request, without secrets.
    public init(
        _ profile: ServerProfile, sessionOf tokens: TokenSource, transport: any HTTPTransport,
        interceptors: [any RequestInterceptor] = [], requestLogger: (@Sendable (LoggedRequest) -> Void)? = nil
    ) {
        self.profile = profile
        source = .stored(tokens)
        dialect = tokens.dialect.setting == profile.dialect ? tokens.dialect : DetectedDialect(profile.dialect)
        clock = tokens.clock
        pipeline = RequestPipeline(transport, interceptors: interceptors, requestLogger: requestLogger)
    }

    /// Creates a client with a session that the app keeps itself.
    /// - Parameters:
    ///   - profile: The profile of the server. `ServerEndpoint.users` is the address of the users.
    ///   - session: The session of the user.
    ///   - transport: The transport that sends the requests.
    ///   - interceptors: The interceptors that see each request before it is sent, in this order. The actions are `USER_DEVICES`,
    ///     and `SESSION_INFO` for the user's name.
    ///   - clock: The clock for the times in responses.
    ///   - requestLogger: Called with a summary of each request, without secrets.
    public init(
        _ profile: ServerProfile, session: SSOToken, transport: any HTTPTransport,
        interceptors: [any RequestInterceptor] = [], clock: any WallClock = SystemWallClock(),
        requestLogger: (@Sendable (LoggedRequest) -> Void)? = nil
    ) {
        self.profile = profile
        source = .given(session)
        dialect = DetectedDialect(profile.dialect)
        self.clock = clock
        pipeline = RequestPipeline(transport, interceptors: interceptors, requestLogger: requestLogger)
    }

    // MARK: Devices

    /// Returns the user's devices of a kind.
    /// - Throws: ``UserDeviceError``; ``UserDeviceError/Code/notOffered`` when the server has no devices of this kind.
    public func list(_ kind: UserDevice.Kind) async throws(UserDeviceError) -> [UserDevice] {
        try await devices(kind, try await access())
    }

    /// Returns the user's devices of all kinds, in the order of `UserDevice.Kind.allCases`.
    ///
    /// Kinds that the server doesn't have are left out.
    /// - Throws: ``UserDeviceError``; ``UserDeviceError/Code/notOffered`` when the server has none of the kinds.
    public func list() async throws(UserDeviceError) -> [UserDevice] {
        let access = try await access()
        var (found, missing) = ([UserDevice](), [UserDeviceError]())
        for kind in UserDevice.Kind.allCases {
            do throws(UserDeviceError) {
                found += try await devices(kind, access)
            } catch {
                guard error.code == .notOffered else { throw error }
                missing.append(error)
            }
        }
        if missing.count == UserDevice.Kind.allCases.count, let error = missing.first { throw error }
        return found
    }

    /// Renames a device.
    ///
    /// The other properties of a device don't change.
    /// - Parameters:
    ///   - device: A device of the user.
    ///   - name: The new name.
    /// - Returns: The device as the server describes it afterwards.
    /// - Throws: ``UserDeviceError``; ``UserDeviceError/Code/invalidName`` for an empty or very long name;
    ///   ``UserDeviceError/Code/notOffered`` when the server doesn't rename devices of this kind.
    @discardableResult
    public func rename(_ device: UserDevice, to name: String) async throws(UserDeviceError) -> UserDevice {
        guard !name.trimmingWhitespace().isEmpty else { throw UserDeviceError(.invalidName, "a device needs a name") }
        guard name.utf8.count <= Self.maxNameLength else {
            throw UserDeviceError(.invalidName, "a name has at most \(Self.maxNameLength) bytes")
        }
        let access = try await access()
        let renamed = device.named(name)
        var call = Call("PUT", address(of: device, access), body: JSON.encode(renamed.json), missing: .notFound)
        // The Ping SDK sends this condition for these kinds, so that AM changes the device and creates none.
        call.mustExist = device.kind == .oath || device.kind == .push
        let response = try await send(call, access)
        guard !response.body.isEmpty else { return renamed }
        guard let json = try? JSON.value(of: response.body), json.object != nil else {
            throw UserDeviceError.unreadable(response)
        }
        return UserDevice(device.kind, json: json) ?? renamed
    }

    /// Deletes a device.
    ///
    /// The user can't log in with it any more.
    /// - Parameter device: A device of the user.
    /// - Throws: ``UserDeviceError``; ``UserDeviceError/Code/notFound`` when the device was removed in the meantime.
    public func delete(_ device: UserDevice) async throws(UserDeviceError) {
        let access = try await access()
        let response = try await send(Call("DELETE", address(of: device, access), missing: .notFound), access)
        // The page of a captive portal is not a confirmation.
        let isConfirmed = response.body.isEmpty || (try? JSON.value(of: response.body)) != nil
        guard isConfirmed else { throw UserDeviceError.unreadable(response) }
    }

    // MARK: Requests

    private func devices(_ kind: UserDevice.Kind, _ access: Access) async throws(UserDeviceError) -> [UserDevice] {
        let url = FormCoding.address(address(of: kind, access), adding: [("_queryFilter", "true")])
        let response = try await send(Call("GET", url, missing: .notOffered), access)
        guard let entries = (try? JSON.value(of: response.body))?["result"]?.array else {
            throw UserDeviceError.unreadable(response)
        }
        let devices = entries.compactMap { UserDevice(kind, json: $0) }
        guard devices.count == entries.count else { throw UserDeviceError.unreadable(response) }
        return devices
    }

    /// Returns the session to use, and its user.
    private func access() async throws(UserDeviceError) -> Access {
        do { try profile.validate() } catch { throw UserDeviceError(error) }
        let (session, cookies) = try await session()
        dialect.recall(session)
        if let known = owner.name(of: session) { return Access(session: session, cookies: cookies, user: known) }
        let unnamed = Access(session: session, cookies: cookies, user: "")
        let url = FormCoding.address(profile.address(of: .users), adding: [("_action", "idFromSession")])
        var call = Call("POST", url, body: Array("{}".utf8), missing: .notOffered)
        (call.version, call.action) = ("2.0", .sessionInfo)
        let response = try await send(call, unnamed)
        guard let user = (try? JSON.value(of: response.body))?["id"]?.string, user.isPathSegment else {
            throw UserDeviceError.unreadable(response)
        }
        owner.remember(user, of: session)
        return Access(session: session, cookies: cookies, user: user)
    }

    private func session() async throws(UserDeviceError) -> (session: SSOToken, cookies: CookieJar?) {
        switch source {
        case .given(let session):
            guard session.value.count > 0 else { throw UserDeviceError.loginRequired }
            return (session, nil)
        case .stored(let tokens):
            do throws(TokenError) {
                guard let session = try await tokens.session() else { throw TokenError(.loginRequired) }
                return (session, try await tokens.cookies())
            } catch {
                throw error.code == .loginRequired ? UserDeviceError.loginRequired : UserDeviceError(error)
            }
        }
    }

    /// Returns the address of a user's devices of a kind.
    private func address(of kind: UserDevice.Kind, _ access: Access) -> String {
        // OpenAM has push devices at another address than AM (protocol/journey.md section 8.4).
        let path = kind == .push && dialect.current == .openAM ? "devices/push" : kind.path
        return "\(profile.address(of: .users))/\(access.user.percentEncoded())/\(path)"
    }

    private func address(of device: UserDevice, _ access: Access) -> String {
        "\(address(of: device.kind, access))/\(device.id.percentEncoded())"
    }

    /// Sends a request with the session, and returns the response, whose status is from 200 to 299.
    private func send(_ call: Call, _ access: Access) async throws(UserDeviceError) -> HTTPResponse {
        var headers = SessionHeaders(profile, dialect.current).headers(
            access.session.value, for: call.url, access.cookies, now: clock.now)
        headers.append("Accept-API-Version", "resource=\(call.version), protocol=1.0")
        headers.append("Accept", "application/json")
        if !call.body.isEmpty { headers.append("Content-Type", "application/json") }
        if call.mustExist { headers.append("If-Match", "*") }
        if !profile.requestedWith.isEmpty { headers.append("X-Requested-With", profile.requestedWith) }
        let request = HTTPRequest(
            call.method, call.url, headers: headers, body: call.body, timeout: profile.timeout, pins: profile.pins)
        let response: HTTPResponse
        do { response = try await pipeline.send(request, for: call.action) } catch { throw UserDeviceError(error) }
        guard (200..<300).contains(response.status) else {
            throw UserDeviceError(response, missing: call.missing, now: clock.now)
        }
        return response
    }
}

/// A request about the devices of a user.
private struct Call {
    let method: String
    let url: String
    let body: [UInt8]
    /// The meaning of the status 404.
    let missing: UserDeviceError.Code
    /// The version of the resource.
    var version = "1.0"
    var action = RequestAction.userDevices
    /// True for a change of a device that must exist.
    var mustExist = false

    init(_ method: String, _ url: String, body: [UInt8] = [], missing: UserDeviceError.Code) {
        (self.method, self.url, self.body, self.missing) = (method, url, body, missing)
    }
}

/// The name of the user of the last session, so that the server is asked for it once.
private final class KnownOwner: Sendable {
    private let known = Mutex<(session: SessionIdentity, name: String)?>(nil)

    /// Returns the user's name of a session; nil when another session was the last one.
    func name(of session: SSOToken) -> String? {
        known.withLock { $0?.session == SessionIdentity(session) ? $0?.name : nil }
    }

    /// Keeps the user's name of a session.
    func remember(_ name: String, of session: SSOToken) {
        known.withLock { $0 = (SessionIdentity(session), name) }
    }
}
