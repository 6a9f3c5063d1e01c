import HTTPTypes
import SignetCore
import Testing

@testable import SignetServer

/// A request as an SDK sends it, and AM's response.
///
/// `{name}` is the placeholder of a value that the test has.
struct RequestShape: Sendable, CustomTestStringConvertible {
    let sdk: SDK
    /// A description, and the section that defines the request.
    let what: String
    let method: HTTPRequest.Method
    let path: String
    var headers: [String: String]
    var body: String?
    var status = 200
    /// The members of the response, `name` or `name=value`; for a redirect those of the query in its `Location`.
    var answer: [String] = []

    var testDescription: String { "\(sdk.rawValue): \(what)" }

    init(
        _ sdk: SDK, _ what: String, _ method: HTTPRequest.Method, _ path: String, _ headers: [String: String],
        body: String? = nil,
        status: Int = 200, answer: [String] = []
    ) {
        (self.sdk, self.what, self.method, self.path) = (sdk, what, method, path)
        (self.headers, self.body, self.status, self.answer) = (headers, body, status, answer)
    }
}

extension RequestShape {
    /// Every request of sections 1 to 4, by SDK.
    static let all: [RequestShape] = SDK.allCases.flatMap { sdk in
        let columns: [[RequestShape]] = [
            starts(sdk), continuations(sdk), sessions(sdk), authorizations(sdk), tokens(sdk), ends(sdk), devices(sdk),
        ]
        return columns.flatMap { $0 }
    }

    private static let root = "/am/json/realms/root"
    private static let oauth = "/am/oauth2/realms/root"

    // MARK: Section 2

    private static func emptyBody(_ sdk: SDK) -> String? {
        switch sdk {
        case .forgeRockIOS, .forgeRockJS: nil
        case .forgeRockAndroid: ""
        case .ping: "{}"
        }
    }

    private static func starts(_ sdk: SDK) -> [RequestShape] {
        let headers = sdk.headers(.authenticate)
        let body = emptyBody(sdk)
        let shown = headers.merging(sdk.session(on: .authenticate)) { $1 }
        let advice =
            "%3CAdvices%3E%3CAttributeValuePair%3E%3CAttribute%20name%3D%22TYPE%22%2F%3E%3CValue%3EVALUE%3C%2FValue%3E"
            + "%3C%2FAttributeValuePair%3E%3C%2FAdvices%3E"
        func adviceQuery(_ type: String, _ value: String) -> String {
            "authIndexType=composite_advice&authIndexValue="
                + advice.replacing("TYPE", with: type).replacing("VALUE", with: value)
        }
        var shapes = [
            RequestShape(
                sdk, "starts a journey (1.4, 2.1)", .post, "\(root)/authenticate?authIndexType=service&authIndexValue=Login",
                headers,
                body: body, answer: ["authId", "callbacks"]),
            RequestShape(
                sdk, "starts the same journey with its session, and gets the same token (2.10, 3.2)", .post,
                "\(root)/authenticate?authIndexType=service&authIndexValue=Login", shown, body: body,
                answer: ["tokenId={session}", "successUrl=/am/console", "realm=/"]),
            RequestShape(
                sdk, "steps up by a transaction's advice (1.4, 2.10)", .post,
                "\(root)/authenticate?\(adviceQuery("TransactionConditionAdvice", "9dae2c80-fe7a-4a36-b57b-4fb1271b0687"))",
                sdk.headers(.advice).merging(sdk.session(on: .advice)) { $1 }, body: body, answer: ["authId", "callbacks"]),
            RequestShape(
                sdk, "steps up by a service's advice (1.4, 2.10)", .post,
                "\(root)/authenticate?\(adviceQuery("AuthenticateToServiceConditionAdvice", "ConfirmationCallback"))",
                sdk.headers(.advice).merging(sdk.session(on: .advice)) { $1 }, body: body, answer: ["authId", "callbacks"]),
            RequestShape(
                sdk, "resumes a suspended journey (1.4, 2.9)", .post, "\(root)/authenticate?suspendedId={suspendedId}", headers,
                body: body,
                answer: ["tokenId"]),
            RequestShape(
                sdk, "resumes an unknown journey (2.5)", .post, "\(root)/authenticate?suspendedId=gone", headers,
                body: body,
                status: 401, answer: ["code=401", "reason=Unauthorized", "message"]),
        ]
        if sdk == .forgeRockJS {
            shapes += [
                RequestShape(
                    sdk, "starts the server's default journey (1.4)", .post, "\(root)/authenticate", headers, answer: ["authId"])
            ]
        }
        if sdk == .ping {
            shapes += [
                RequestShape(
                    sdk, "runs the journey again with ForceAuth (1.4)", .post,
                    "\(root)/authenticate?authIndexType=service&authIndexValue=Login&ForceAuth=true", shown, body: body,
                    answer: ["authId"]),
                RequestShape(
                    sdk, "requests a login without a session (1.4, 2.4)", .post,
                    "\(root)/authenticate?authIndexType=service&authIndexValue=Login&noSession=true", headers, body: body,
                    answer: ["authId"]),
            ]
        }
        return shapes
    }

    /// The query of every further request.
    private static func continueQuery(_ sdk: SDK, noSession: Bool = false) -> String {
        switch sdk {
        case .forgeRockIOS, .forgeRockAndroid: noSession ? "?noSession=true" : ""
        case .ping: "?noSession=\(noSession)&ForceAuth=false"
        case .forgeRockJS: "?authIndexType=service&authIndexValue=Login" + (noSession ? "&noSession=true" : "")
        }
    }

    private static func step(_ sdk: SDK, _ password: String) -> String {
        let members =
            switch sdk {
            case .forgeRockIOS: #","stage":"UsernamePassword","header":"Sign In","description":"x""#
            case .forgeRockAndroid: #","stage":"UsernamePassword""#
            case .ping: ""
            case .forgeRockJS: #","stage":"UsernamePassword","header":"Sign In","description":"x","status":200,"ok":true"#
            }
        return
            #"{"authId":"{authId}"\#(members),"callbacks":[{"type":"NameCallback","_id":0,"output":[{"name":"prompt","value":"User"#
            + #" Name"}],"input":[{"name":"IDToken1","value":"mira"}]},{"type":"PasswordCallback","_id":1,"output":[{"name":"prompt","#
            + #""value":"Password"}],"input":[{"name":"IDToken2","value":"\#(password)"}]}]}"#
    }

    private static func continuations(_ sdk: SDK) -> [RequestShape] {
        let headers = sdk.headers(.authenticate)
        let path = "\(root)/authenticate"
        let right = step(sdk, "correct horse")
        return [
            RequestShape(
                sdk, "completes the journey (2.1, 2.4)", .post, path + continueQuery(sdk), headers, body: right,
                answer: ["tokenId", "successUrl=/am/console", "realm=/"]),
            RequestShape(
                sdk, "completes the journey without a session (2.4)", .post, path + continueQuery(sdk, noSession: true), headers,
                body: right,
                answer: ["successUrl=/am/console", "realm=/", "message=Authentication Successful", "!tokenId"]),
            RequestShape(
                sdk, "fails with a wrong password (2.5)", .post, path + continueQuery(sdk), headers, body: step(sdk, "wrong"),
                status: 401,
                answer: ["code=401", "reason=Unauthorized", "message=Login failure", "detail"]),
            RequestShape(
                sdk, "sends a changed authId (2.2, 2.5)", .post, path + continueQuery(sdk), headers,
                body: right.replacing("{authId}", with: "{authId}x"), status: 400,
                answer: ["code=400", "reason=Bad Request", "message=Authentication Error: Invalid AuthId Signature"]),
        ]
    }

    // MARK: Sections 1.7 and 3

    private static func sessions(_ sdk: SDK) -> [RequestShape] {
        let path = "\(root)/sessions" + (sdk == .forgeRockJS ? "/" : "")
        let body: String? =
            switch sdk {
            case .forgeRockIOS: #"{"tokenId":"{session}"}"#
            case .forgeRockAndroid: ""
            case .ping: "{}"
            case .forgeRockJS: nil
            }
        var shapes = [
            RequestShape(
                sdk, "logs out (1.7)", .post, "\(path)?_action=logout",
                sdk.headers(.logout).merging(sdk.session(on: .logout)) { $1 }, body: body,
                answer: ["result=Successfully logged out"]),
            RequestShape(
                sdk, "logs out of an ended session (1.7)", .post, "\(path)?_action=logout",
                sdk.headers(.logout).merging(["iPlanetDirectoryPro": "over", "Cookie": "iPlanetDirectoryPro=over"]) { $1 },
                body: sdk == .forgeRockIOS ? #"{"tokenId":"over"}"# : body, status: 401,
                answer: ["code=401", "reason=Unauthorized", "message=Access Denied"]),
        ]
        if sdk != .forgeRockJS {
            shapes += [
                RequestShape(
                    sdk, "requests the properties of its session (1.5)", .post, "\(path)?_action=getSessionInfo",
                    sdk.headers(.sessionInfo).merging(["iPlanetDirectoryPro": "{session}"]) { $1 },
                    body: sdk == .forgeRockIOS ? nil : "",
                    answer: [
                        "username=mira", "universalId", "realm=/", "latestAccessTime", "maxIdleExpirationTime",
                        "maxSessionExpirationTime", "properties",
                    ])
            ]
        }
        return shapes
    }

    // MARK: Section 4

    private static func authorizations(_ sdk: SDK) -> [RequestShape] {
        let headers = sdk.headers(.authorize)
        let shown = headers.merging(sdk.session(on: .authorize)) { $1 }
        let state = sdk == .ping ? "4A0D3A2B-6C1E-4E6F-9B58-0A9F5E0D7C11" : "Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4"
        func query(_ extra: String = "", scope: String = "openid%20profile") -> String {
            "\(oauth)/authorize?response_type=code&client_id=app&scope=\(scope)&redirect_uri=org.example.app%3A%2F%2Fcallback"
                + "&state=\(state)&code_challenge={challenge}&code_challenge_method=S256\(extra)"
        }
        var shapes = [
            RequestShape(
                sdk, "gets a code (4.2)", .get, query(), shown, status: 302,
                answer: ["code", "state=\(state)", "iss", "client_id=app"]),
            RequestShape(
                sdk, "requests a scope that the client does not have (4.2)", .get, query(scope: "openid%20root"), shown,
                status: 302,
                answer: ["error=invalid_scope", "error_description", "state=\(state)"]),
        ]
        if sdk == .forgeRockJS {
            shapes += [
                RequestShape(
                    sdk, "requests a code in a hidden frame (4.4)", .get, query("&prompt=none"), shown, status: 302,
                    answer: ["code", "state=\(state)"]),
                RequestShape(
                    sdk, "requests a code in a hidden frame without a session (4.4)", .get, query("&prompt=none"), headers,
                    status: 302,
                    answer: ["error=interaction_required", "state=\(state)"]),
            ]
        }
        return shapes
    }

    private static func tokens(_ sdk: SDK) -> [RequestShape] {
        // The ForgeRock SDK for iOS and the Ping SDK send form values unencoded.
        let isPlain = sdk == .forgeRockIOS || sdk == .ping
        let redirect = isPlain ? "org.example.app://callback" : "org.example.app%3A%2F%2Fcallback"
        let scope = isPlain ? "openid profile" : "openid+profile"
        let headers = sdk.headers(.token)
        let given = ["access_token", "token_type=Bearer", "expires_in", "scope"]
        var shapes = [
            RequestShape(
                sdk, "exchanges a code (4.3)", .post, "\(oauth)/access_token", headers,
                body: "grant_type=authorization_code&code={code}&redirect_uri=\(redirect)&client_id=app&code_verifier={verifier}",
                answer: given + ["refresh_token", "id_token"]),
            RequestShape(
                sdk, "exchanges an invalid code (4.3)", .post, "\(oauth)/access_token", headers,
                body: "grant_type=authorization_code&code=none&redirect_uri=\(redirect)&client_id=app&code_verifier={verifier}",
                status: 400, answer: ["error=invalid_grant", "error_description"]),
            RequestShape(
                sdk, "requests claims (4.6)", .get, "\(oauth)/userinfo",
                sdk.headers(.userInfo).merging(["Authorization": "Bearer {access}"]) { $1 }, answer: ["sub=mira"]),
            RequestShape(
                sdk, "requests claims with an invalid token (4.6)", .get, "\(oauth)/userinfo",
                sdk.headers(.userInfo).merging(["Authorization": "Bearer none"]) { $1 }, status: 401,
                answer: ["error=invalid_token", "error_description"]),
            RequestShape(
                sdk, "revokes a token (4.3)", .post, "\(oauth)/token/revoke", sdk.headers(.revoke),
                body: "token=\(sdk == .forgeRockJS ? "{access}" : "{refresh}")&client_id=app"),
        ]
        let refresh: String? =
            switch sdk {
            case .forgeRockIOS: "&scope=\(scope)&response_type=token"
            case .forgeRockAndroid: "&scope=\(scope)&response_type=code"
            case .ping: ""
            case .forgeRockJS: nil
            }
        if let refresh {
            shapes += [
                RequestShape(
                    sdk, "refreshes tokens (4.3)", .post, "\(oauth)/access_token", headers,
                    body: "grant_type=refresh_token&refresh_token={refresh}&client_id=app\(refresh)",
                    answer: given + ["refresh_token"]),
                RequestShape(
                    sdk, "refreshes with an invalid token (4.4)", .post, "\(oauth)/access_token", headers,
                    body: "grant_type=refresh_token&refresh_token=none&client_id=app\(refresh)", status: 400,
                    answer: ["error=invalid_grant", "error_description"]),
            ]
        }
        return shapes
    }

    private static func ends(_ sdk: SDK) -> [RequestShape] {
        let headers = sdk.headers(.endSession)
        switch sdk {
        case .forgeRockIOS:
            return [
                RequestShape(
                    sdk, "ends the session of an id_token (4.5)", .get,
                    "\(oauth)/connect/endSession?client_id=app&id_token_hint={id}",
                    headers, status: 204),
                RequestShape(
                    sdk, "ends the session in a browser (4.5)", .get,
                    "\(oauth)/connect/endSession?post_logout_redirect_uri=https%3A%2F%2Fapp.example.test%2Fbye&id_token_hint={id}",
                    [:],
                    status: 302),
            ]
        case .forgeRockAndroid:
            return [
                RequestShape(
                    sdk, "ends the session of an id_token (4.5)", .get, "\(oauth)/connect/endSession?id_token_hint={id}", headers,
                    status: 204)
            ]
        case .forgeRockJS:
            return [
                RequestShape(
                    sdk, "ends the session of an id_token (4.5)", .get, "\(oauth)/connect/endSession?id_token_hint={id}",
                    headers.merging(["Authorization": "Bearer {access}"]) { $1 }, status: 204)
            ]
        case .ping: return []
        }
    }

    // MARK: Section 1.5

    private static func devices(_ sdk: SDK) -> [RequestShape] {
        let headers = sdk.headers(.devices)
            .merging(sdk == .forgeRockJS ? sdk.session(on: .devices) : ["iPlanetDirectoryPro": "{session}"]) { $1 }
        let path = "\(root)/users/mira/devices"
        let lists = ["2fa/oath", "2fa/push", "2fa/binding", "2fa/webauthn", "profile"].map { kind in
            RequestShape(
                sdk, "lists \(kind) devices (1.5)", .get, "\(path)/\(kind)?_queryFilter=true", headers, answer: ["result"])
        }
        return lists + [
            RequestShape(sdk, "removes a device (1.5)", .delete, "\(path)/2fa/push/{device}", headers, answer: ["_id={device}"]),
            RequestShape(
                sdk, "renames an unknown device (1.5)", .put, "\(path)/2fa/binding/none",
                headers.merging(["Content-Type": "application/json"]) { $1 },
                body: #"{"_id":"none","deviceName":"x","uuid":"none","createdDate":1,"lastAccessDate":1,"deviceId":"d"}"#,
                status: 404,
                answer: ["code=404"]),
        ]
    }
}
