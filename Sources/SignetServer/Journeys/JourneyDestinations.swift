import SignetCore

/// The URLs to which a client goes after a journey: those of the request, and those of the journey's nodes.
///
/// As in AM, those of the request come first.
struct JourneyDestinations: Codable, Sendable, Hashable {
    /// The parameter `goto` of the request, if it is permitted.
    var requestedSuccess: String?
    /// The parameter `gotoOnFail` of the request, if it is permitted.
    var requestedFailure: String?
    /// The URL of the last Success URL node.
    var journeySuccess: String?
    /// The URL of the last Failure URL node.
    var journeyFailure: String?

    /// The URL after a success; nil for AM's console.
    var success: String? { requestedSuccess ?? journeySuccess }
    /// The URL after a failure; nil for none.
    var failure: String? { requestedFailure ?? journeyFailure }
}

/// The parameters of a request that name URLs to go to.
///
/// They are not trusted.
struct RequestedDestinations: Sendable, Hashable {
    var goto: String?
    var gotoOnFail: String?
}

extension ServerTransaction {
    /// Adds the permitted URLs of a request to those of a journey.
    ///
    /// A URL that is not permitted is ignored, as in AM with a validation list.
    func adding(
        _ requested: RequestedDestinations, to present: JourneyDestinations?, in realm: RealmPath
    ) -> JourneyDestinations? {
        let (success, failure) = (permitted(requested.goto, in: realm), permitted(requested.gotoOnFail, in: realm))
        guard success != nil || failure != nil else { return present }
        var destinations = present ?? JourneyDestinations()
        destinations.requestedSuccess = success ?? destinations.requestedSuccess
        destinations.requestedFailure = failure ?? destinations.requestedFailure
        return destinations
    }

    private func permitted(_ url: String?, in realm: RealmPath) -> String? {
        url.flatMap { ReturnAddress.isPermitted($0, in: realm, self) ? $0 : nil }
    }
}

extension APIError {
    /// Returns the error with the URL to which the client goes after a failed login.
    ///
    /// An error that has no `failureUrl` stays the same.
    func leading(to failureURL: String?) -> APIError {
        guard let failureURL, detail?["failureUrl"] != nil else { return self }
        var error = self
        error.detail?["failureUrl"] = .string(failureURL)
        return error
    }
}
