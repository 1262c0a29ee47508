//! Base URLs of servers: how to build request URLs from them, and which parts are safe to show.

use std::net::IpAddr;

use ureq::http::Uri;

/// A parsed base URL. It may contain a password, or a key in its query; messages never show those.
pub(in crate::llm) struct BaseUrl {
    scheme: String,
    /// Host and port, with user and password if the URL has them.
    authority: String,
    host: String,
    host_and_port: String,
    /// Without a slash at its end.
    path: String,
    query: Option<String>,
}

impl BaseUrl {
    pub(in crate::llm) fn parse(written: &str) -> Result<Self, String> {
        let hint = "a base URL begins with http:// or https:// and a host, as http://127.0.0.1:8080/v1";
        let uri: Uri = written.parse().map_err(|_| hint.to_owned())?;
        let (Some(scheme @ ("http" | "https")), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(hint.to_owned());
        };
        let host = authority.host().to_owned();
        let port = authority.port().map(|port| format!(":{port}")).unwrap_or_default();
        Ok(Self {
            scheme: scheme.to_owned(),
            authority: authority.as_str().to_owned(),
            host_and_port: format!("{host}{port}"),
            host,
            path: uri.path().trim_end_matches('/').to_owned(),
            query: uri.query().map(str::to_owned),
        })
    }

    /// Removes `end` from the end of the path, if it is there.
    pub fn without(mut self, end: &str) -> Self {
        self.path.truncate(self.path.strip_suffix(end).unwrap_or(&self.path).len());
        self
    }

    /// Returns the URL of a request. The path goes before the query, because some servers have their API version in the query.
    pub fn join(&self, path: &str) -> String {
        let query = self.query.as_ref().map(|query| format!("?{query}")).unwrap_or_default();
        format!("{}://{}{}{path}{query}", self.scheme, self.authority, self.path)
    }

    /// Returns the URL of a request as messages show it: without user, password and query.
    pub fn shown(&self, path: &str) -> String {
        format!("{}://{}{}{path}", self.scheme, self.host_and_port, self.path)
    }

    /// Whether the URL has a query.
    pub fn has_query(&self) -> bool {
        self.query.is_some()
    }

    /// Whether the host is this machine.
    pub fn is_loopback(&self) -> bool {
        let host = self.host.trim_matches(['[', ']']).to_ascii_lowercase();
        host == "localhost" || host.ends_with(".localhost") || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
    }

    /// Whether requests cannot be read on the network.
    pub fn is_private(&self) -> bool {
        self.scheme == "https" || self.is_loopback()
    }

    /// Whether the URL contains credentials.
    pub fn holds_key(&self) -> bool {
        let names = self.query.iter().flat_map(|query| query.split('&')).filter_map(|pair| pair.split('=').next());
        let is_key = |name: &str| ["key", "token", "secret"].iter().any(|word| name.to_ascii_lowercase().contains(word));
        self.user().is_some() || names.into_iter().any(is_key)
    }

    /// Returns the parts that messages never show, even if a server repeats them.
    pub fn secrets(&self) -> Vec<String> {
        let password = self.user().and_then(|user| user.split_once(':')).map(|(_, password)| password);
        let values = self.query.iter().flat_map(|query| query.split('&')).filter_map(|pair| pair.split_once('='));
        self.user().into_iter().chain(password).chain(values.map(|(_, value)| value)).map(str::to_owned).collect()
    }

    fn user(&self) -> Option<&str> {
        self.authority.rsplit_once('@').map(|(user, _)| user)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_url_is_shown_without_secrets() {
        let cases = [
            ("http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080/v1/x", "http://127.0.0.1:8080/v1/x", true),
            ("https://u:pa55@h/a", "https://u:pa55@h/a/x", "https://h/a/x", true),
            ("http://h/a?api-version=2&key=k", "http://h/a/x?api-version=2&key=k", "http://h/a/x", false),
            ("http://[::1]:80", "http://[::1]:80/x", "http://[::1]:80/x", true),
            ("http://Localhost", "http://Localhost/x", "http://Localhost/x", true),
            // These look like loopback addresses and are not.
            ("http://127.0.0.1@h/", "http://127.0.0.1@h/x", "http://h/x", false),
            ("http://localhost.example", "http://localhost.example/x", "http://localhost.example/x", false),
            ("http://10.0.0.1", "http://10.0.0.1/x", "http://10.0.0.1/x", false),
        ];
        for (written, asked, shown, is_private) in cases {
            let url = BaseUrl::parse(written).unwrap_or_else(|what| panic!("{written}: {what}"));
            assert_eq!((url.join("/x").as_str(), url.shown("/x").as_str(), url.is_private()), (asked, shown, is_private));
        }
        let secrets = |url: &str| BaseUrl::parse(url).map(|url| (url.holds_key(), url.secrets())).unwrap_or_default();
        assert_eq!(secrets("http://u:pa55@h/a?v=1"), (true, vec!["u:pa55".to_owned(), "pa55".to_owned(), "1".to_owned()]));
        assert_eq!(secrets("http://h/a?api-version=1"), (false, vec!["1".to_owned()]));
        assert!(secrets("http://h/a?api_KEY=1").0);
    }

    #[test]
    fn invalid_base_url_is_refused_without_being_shown() {
        for wrong in ["", "localhost:8080/v1", "h", "/v1", "ftp://u:pa55@h", "http://", "http://u:pa55@h x/", "file:///pa55"] {
            let what = BaseUrl::parse(wrong).map(|url| url.join("")).unwrap_err();
            assert!(what.contains("http://127.0.0.1:8080/v1") && !what.contains("pa55"), "{wrong}: {what}");
        }
    }

    #[test]
    fn base_url_version_suffix_is_optional() {
        for written in ["https://h/v1/", "https://h/v1", "https://h"] {
            let url = BaseUrl::parse(written).map(|url| url.without("/v1").join("/v1/messages"));
            assert_eq!(url.as_deref(), Ok("https://h/v1/messages"));
        }
    }
}
